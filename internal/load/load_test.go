package load

import (
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"

	"linerate/internal/hint"
)

func TestStampRoundTrip(t *testing.T) {
	for _, s := range []Stamp{
		{},
		{Stream: 65535, Run: 4095, Kind: End, Flow: MaxFlows - 1, Sequence: math.MaxUint32, Time: 1<<40 - 1},
		{Stream: 1, Run: 2, Flow: 3, Sequence: 4, Time: 5},
		{Flow: 1 << 20, Time: 1 << 32}, {Kind: End, Flow: 1<<21 + 7}, {Flow: MaxFlows - 1},
	} {
		b := make([]byte, StampBytes)
		PutStamp(b, s)
		got, ok := ReadStamp(b)
		if !ok || got != s {
			t.Errorf("stamp %+v came back as %+v, %v", s, got, ok)
		}
		b[3] ^= 1
		if _, ok := ReadStamp(b); ok {
			t.Error("a stamp with another magic was read")
		}
	}
}

// TestStampsBits checks the layout in bpf/stamp.h: flows below 2²⁰ and the kinds have the same bits as
// when flows had 20 bits.
func TestStampsBits(t *testing.T) {
	for flow, want := range map[uint32]uint32{0xABCDE: 0x121ABCDE, 0x1ABCDE: 0x125ABCDE, 0x2ABCDE: 0x129ABCDE, MaxFlows - 1: 0x12DFFFFF} {
		b := make([]byte, StampBytes)
		PutStamp(b, Stamp{Kind: End, Flow: flow, Time: 0x12_0000_0000})
		if got := binary.BigEndian.Uint32(b[6:]); got != want {
			t.Errorf("flow %#x is written as %#08x, want %#08x", flow, got, want)
		}
	}
}

func TestDelayWraps(t *testing.T) {
	if d := Delay(1<<40-10, 1<<41+5); d != 15 {
		t.Errorf("delay over the wrap of 40 bits is %d, want 15", d)
	}
	if d := Delay(100, 90); d != 0 {
		t.Errorf("a delay of -10 ns reads %d, want 0", d)
	}
}

func TestSimpleIMIX(t *testing.T) {
	counts := map[int]int{}
	for _, n := range SimpleIMIX() {
		counts[n]++
	}
	if counts[64] != 7 || counts[594] != 4 || counts[1518] != 1 {
		t.Errorf("simple IMIX is %v, want 7 : 4 : 1", counts)
	}
}

func TestParseRate(t *testing.T) {
	for in, want := range map[string]Rate{
		"max": {}, "MAX": {}, "1000": {PPS: 1000}, "1.5Mpps": {PPS: 1_500_000}, "100k": {PPS: 100_000},
		"3Gbps": {BPS: 3_000_000_000}, "800 Mbit/s": {BPS: 800_000_000}, "2Mfps": {PPS: 2_000_000}, "1e6": {PPS: 1_000_000},
	} {
		if got, err := ParseRate(in); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %+v, %v, want %+v", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "fast", "-1", "0", "NaN", "Inf", "1Xpps", "1e300"} {
		if _, err := ParseRate(bad); !hint.IsUsage(err) {
			t.Errorf("ParseRate(%q) = %v, want a usage error", bad, err)
		}
	}
	// 3 Gbit/s of 1,500-byte frames including FCS are 250,000 frames per second.
	if pps := (Rate{BPS: 3_000_000_000}).FramesPerSecond([]int{1500}); pps != 250_000 {
		t.Errorf("3 Gbit/s of 1500-byte frames is %g frames/s, want 250000", pps)
	}
}

func space(count int) FlowSpace {
	return FlowSpace{Count: count, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}
}

func TestFlowsAreDistinct(t *testing.T) {
	f := space(200_000)
	f.SrcSpan, f.DstSpan = 3, 2
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	f = f.WithDefaults()
	seen := map[Tuple]bool{}
	for i := range f.Count {
		seen[f.Tuple(i)] = true
	}
	if len(seen) != f.Count {
		t.Errorf("%d flows have %d distinct tuples", f.Count, len(seen))
	}
	if got := f.Tuple(4).String(); got != "198.18.0.2:1024 > 198.19.0.2:9" {
		t.Errorf("flow 4 is %s, but sources must vary first, then destinations", got)
	}
}

func TestFlowsRefused(t *testing.T) {
	f := space(1000)
	f.SrcPort, f.SrcPorts, f.DstPort, f.DstPorts = 1024, 10, 9, 10
	if err := f.Validate(); !hint.IsUsage(err) {
		t.Errorf("1000 flows in 100 tuples: %v", err)
	}
	f = space(1)
	f.Dst = netip.MustParseAddr("2001:2::1")
	if err := f.Validate(); !hint.IsUsage(err) {
		t.Errorf("IPv4 to IPv6: %v", err)
	}
}

func framer(t testing.TB, src, dst string, sizes ...int) *Framer {
	t.Helper()
	f, err := NewFramer(Spec{
		SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, Stream: 7, Sizes: sizes,
		Flows: FlowSpace{Count: 10, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		src, dst string
		size     int
	}{{"198.18.0.1", "198.19.0.1", 64}, {"198.18.0.1", "198.19.0.1", 1518}, {"2001:2::1", "2001:2:0:1::1", 84}, {"2001:2::1", "2001:2:0:1::1", 1001}} {
		f := framer(t, c.src, c.dst, c.size)
		b := make([]byte, c.size-4)
		f.Put(b, 3)
		want := Stamp{Stream: 7, Run: 9, Flow: 3, Sequence: 11, Time: 12345}
		f.Stamp(b, want)
		found, ok := FindStamp(b)
		if !ok || found.Stamp != want || found.Bytes != c.size {
			t.Errorf("%s, %d bytes: found %+v, %v", c.src, c.size, found, ok)
		}
		checkSums(t, b)
		tagged := slices.Concat(b[:12], []byte{0x81, 0, 0, 5}, b[12:])
		if _, ok := FindStamp(tagged); !ok {
			t.Errorf("%s: no stamp found behind a VLAN tag", c.src)
		}
	}
	if _, err := NewFramer(Spec{
		SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), Sizes: []int{64},
		Flows: FlowSpace{Src: netip.MustParseAddr("2001:2::1"), Dst: netip.MustParseAddr("2001:2::2")},
	}); !hint.IsUsage(err) || hint.Of(err) == "" {
		t.Errorf("a 64-byte IPv6 frame: %v, want a usage error that names the minimum", err)
	}
}

// checkSums verifies a frame's checksums as a receiver would: all ones.
func checkSums(t *testing.T, b []byte) {
	t.Helper()
	ip := b[14:]
	if ip[0]>>4 == 4 {
		if s := foldSum(sum16(ip[:20], 0)); s != 0xffff {
			t.Errorf("IPv4 header sums up to %#x", s)
		}
		return
	}
	length := binary.BigEndian.Uint16(ip[4:])
	if s := foldSum(sum16(ip[40:], sum16(ip[8:40], uint64(length)+17))); s != 0xffff {
		t.Errorf("IPv6 UDP datagram sums up to %#x", s)
	}
}

func TestHistogram(t *testing.T) {
	for v := uint64(1); v < 1<<topBits; v = v + v/7 + 1 {
		i := Bucket(v)
		least, width := BucketRange(i)
		if v < least || v >= least+width {
			t.Fatalf("%d is in bucket %d, which is %d..%d", v, i, least, least+width-1)
		}
		if middle := float64(least) + float64(width-1)/2; math.Abs(middle/float64(v)-1) > .008 {
			t.Fatalf("the middle of %d's bucket is %g", v, middle)
		}
	}
	if Bucket(math.MaxUint64) != Buckets-1 || Bucket(1<<topBits-1) != Buckets-1 {
		t.Error("the last bucket does not hold what is above")
	}
	var h Histogram
	for v := range uint64(10000) {
		h.Count(1000 + v)
	}
	l := h.Latency()
	for _, q := range []struct {
		got  uint64
		want float64
	}{{l.P50, 6000}, {l.P90, 10000}, {l.P99, 10900}, {l.P999, 10990}} {
		if math.Abs(float64(q.got)/q.want-1) > .01 {
			t.Errorf("quantile is %d, want %g within 1 %%", q.got, q.want)
		}
	}
	if l.Min != 1000 || l.Max != 10999 {
		t.Errorf("min %d, max %d are not exact", l.Min, l.Max)
	}
}

// TestFlowCount compares the account with a plain list of the received frames.
func TestFlowCount(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var f FlowCount
		seen, highest := map[uint32]bool{}, int64(-1)
		var want FlowCount
		for i := range uint32(3000) {
			if r.IntN(10) == 0 {
				continue // lost
			}
			sequences := []uint32{i}
			if i > 100 && r.IntN(20) == 0 { // late, or twice
				sequences = append(sequences, i-uint32(r.IntN(100)))
			}
			for _, s := range sequences {
				switch {
				case seen[s]:
					want.Duplicated++
				case int64(s) < highest:
					want.Reordered++
					fallthrough
				default:
					want.Received++
				}
				seen[s] = true
				highest = max(highest, int64(s))
				f.Count(s)
			}
		}
		if f.Received != want.Received || f.Duplicated != want.Duplicated || f.Reordered != want.Reordered {
			t.Fatalf("counted %d, %d duplicated, %d reordered; want %d, %d, %d",
				f.Received, f.Duplicated, f.Reordered, want.Received, want.Duplicated, want.Reordered)
		}
	}
}

func TestFlowCountWraps(t *testing.T) {
	f := FlowCount{next: math.MaxUint32 - 4}
	for i := range uint32(10) {
		if o := f.Count(math.MaxUint32 - 4 + i); o != InOrder {
			t.Errorf("frame %d over the wrap is %v", i, o)
		}
	}
}

func TestEndsCloseTheAccount(t *testing.T) {
	f := framer(t, "198.18.0.1", "198.19.0.1", 64)
	var a Account
	b := make([]byte, 60)
	// 10 flows, 3 rounds and 4 frames; flows 8 and 9 are lost completely, and so is the last round of flow
	// 0: no gap in the sequences shows these losses.
	for i := range 34 {
		flow, sequence := i%10, i/10
		if flow >= 8 || flow == 0 && sequence == 3 {
			continue
		}
		f.Put(b, flow)
		f.Stamp(b, Stamp{Stream: 7, Run: 1, Flow: uint32(flow), Sequence: uint32(sequence), Time: 1000})
		a.Frame(b, 2000+uint64(i))
	}
	if r := a.Received("test"); r.Lost != nil {
		t.Errorf("without an end of stream %d are lost, want unknown", *r.Lost)
	}
	end := func(w uint16) {
		a.Frame(f.End(0, Stamp{Stream: 7, Run: 1}, Ending{Worker: w, Workers: 2, Total: 17}), 3000)
	}
	end(0)
	if r := a.Received("test"); r.Lost != nil {
		t.Errorf("with one of two workers' ends %d are lost, want unknown", *r.Lost)
	}
	end(1)
	end(1)
	r := a.Received("test")
	if r.Lost == nil || *r.Lost != 7 || r.RxPackets+*r.Lost != 34 || *r.TxPackets != 34 {
		t.Errorf("received %d, lost %v of 34", r.RxPackets, r.Lost)
	}
	if r.FlowsSeen != 8 || r.Latency == nil || r.Latency.Min != 1000 {
		t.Errorf("saw %d flows, latency %+v", r.FlowsSeen, r.Latency)
	}
}

func TestStreamsApart(t *testing.T) {
	f := framer(t, "198.18.0.1", "198.19.0.1", 64)
	var a Account
	b := make([]byte, 60)
	for stream := range uint16(3) {
		for i := range uint32(5 + stream) {
			f.Put(b, 0)
			f.Stamp(b, Stamp{Stream: stream, Sequence: i})
			a.Frame(b, 10+uint64(i))
		}
	}
	a.Frame(f.End(0, Stamp{Stream: 1}, Ending{Workers: 1, Total: 9}), 50)
	r := a.Received("test")
	if r.RxPackets != 18 || r.Reordered != 0 || r.Duplicated != 0 || r.FlowsSeen != 3 || r.Lost != nil {
		t.Fatalf("three streams of 18 frames, two of which did not end, are %+v", r)
	}
	for stream := range uint16(3) {
		a.Frame(f.End(0, Stamp{Stream: stream}, Ending{Workers: 1, Total: 9}), 50)
	}
	if r := a.Received("test"); r.Lost == nil || *r.Lost != 9 {
		t.Errorf("of three streams of 9 frames that ended, 18 frames arrived: %+v", r)
	}
}

// TestElephants: which shares are possible, and their share of each worker's frames.
func TestElephants(t *testing.T) {
	space := func(flows int, share float64) FlowSpace { return FlowSpace{Count: flows, Elephant: share} }
	for _, c := range []struct {
		of      FlowSpace
		workers int
		ok      bool
	}{
		{space(1, 0), 4, true}, {space(2, 0.5), 0, true}, {space(1, 0.5), 1, false}, {space(8, 0.5), 2, true},
		{space(8, 0.51), 2, false}, {space(3, 0.1), 2, false}, {space(4, 0.1), 2, true}, {space(3, 0.1), 9, false},
	} {
		if err := c.of.elephant(c.workers); (err == nil) != c.ok || err != nil && hint.Of(err) == "" {
			t.Errorf("%+v of %d workers: %v", c.of, c.workers, err)
		}
	}
	f := space(8, 0.25)
	if a, b, c := f.ElephantOf(0, 1), f.ElephantOf(0, 2), f.ElephantOf(1, 2); a != 1<<30 || b != 1<<31 || c != 0 {
		t.Errorf("%d, %d, %d", a, b, c)
	}
	if whole := space(8, 0.5).ElephantOf(0, 2); whole != math.MaxUint32 {
		t.Errorf("all of a worker's frames: %d", whole)
	}
	for _, share := range []float64{-0.1, 1, math.NaN()} {
		f := FlowSpace{Count: 9, Elephant: share, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}
		if err := f.Validate(); err == nil {
			t.Errorf("a share of %g is accepted", share)
		}
	}
}

// TestReadEnding: messages are read back as written, and others are refused with a reason.
func TestReadEnding(t *testing.T) {
	m := Ending{Worker: 2, Workers: 3, Total: 1 << 40, NeverLeft: 17}
	whole := m.Append(nil)
	if got, err := ReadEnding(append(whole, 0, 0)); err != nil || got != m {
		t.Errorf("%+v came back as %+v, %v", m, got, err)
	}
	for why, b := range map[string][]byte{
		"of 23 bytes":                   whole[:len(whole)-1],
		"version 1; known is version 2": append([]byte{1}, whole[1:]...),
		"worker 3 of 3":                 Ending{Worker: 3, Workers: 3}.Append(nil),
		"1 frames, 2 of them":           Ending{Workers: 1, Total: 1, NeverLeft: 2}.Append(nil),
	} {
		if _, err := ReadEnding(b); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

// TestRoomIsBounded: any sender can make up runs of streams and their endings; a receiver distinguishes
// MaxRuns, and reports that it did not count more.
func TestRoomIsBounded(t *testing.T) {
	f := framer(t, "198.18.0.1", "198.19.0.1", 64)
	b := make([]byte, 60)
	f.Put(b, 0)
	end := Ending{Workers: 1, Total: 1}
	var a Account
	for run := range uint16(MaxRuns) {
		f.Stamp(b, Stamp{Run: run})
		a.Frame(b, 10)
		a.Frame(f.End(0, Stamp{Run: run}, end), 20)
	}
	if r := a.Received("test"); r.Lost == nil || *r.Lost != 0 || len(r.Warnings) > 0 {
		t.Fatalf("%d runs are %+v", MaxRuns, r)
	}
	ended := a.Endings
	ended.streams = maps.Clone(ended.streams)
	for run := MaxRuns; run < 1<<12; run++ {
		a.Frame(f.End(0, Stamp{Run: uint16(run)}, end), 30)
	}
	if r := a.Received("test"); r.Lost != nil || len(a.Endings.Streams()) != MaxRuns {
		t.Errorf("with endings of %d runs %v of %d are lost, want unknown", len(a.Endings.Streams()), r.Lost, r.RxPackets)
	}
	a.Endings = ended
	f.Stamp(b, Stamp{Run: MaxRuns})
	a.Frame(b, 40)
	if r := a.Received("test"); r.Lost != nil || r.RxPackets != MaxRuns || len(a.streams) != MaxRuns || len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "1 frames of more than 16 runs") {
		t.Errorf("a frame of one run more is %+v", r)
	}
	var ends Endings
	if ends.Add(StreamRun{}, Ending{Workers: maxWorkers + 1}); len(ends.Streams()) > 0 || !ends.more {
		t.Errorf("workers without a bound: %+v", ends)
	}
}

// TestEndingsOfTheLastAccountAreLate: a repeated ending that arrives after Renew adds nothing, but that
// of another run with the same ending does.
func TestEndingsOfTheLastAccountAreLate(t *testing.T) {
	var e Endings
	before, now, end := StreamRun{Stream: 5, Run: 7}, StreamRun{Stream: 5, Run: 8}, Ending{Workers: 1, Total: 20_011, Closed: 1}
	e.Add(before, end)
	e.Renew()
	e.Add(before, end)
	if got := e.Streams(); len(got) != 0 {
		t.Errorf("after Renew a late ending makes runs %v", got)
	}
	// Runs that start within a quarter of a second have the same number.
	soon := end
	soon.Closed = 2
	if e.Add(before, soon); !e.Complete(before) {
		t.Error("the ending of a run with the same number is ignored")
	}
	e.Renew()
	e.Add(now, end)
	if !e.Complete(now) || e.Sent(now) != 20_011 || len(e.Streams()) != 1 {
		t.Errorf("the next run is %+v", e)
	}
	e.Renew()
	if e.Add(before, end); len(e.Streams()) != 1 {
		t.Error("endings of an older account are ignored for ever")
	}
}

// TestLastFlowsMakeNoRoomForAll: frames that claim to be of the last flow of new streams take little
// memory each.
func TestLastFlowsMakeNoRoomForAll(t *testing.T) {
	fr := framer(t, "198.18.0.1", "198.19.0.1", 64)
	b := make([]byte, 60)
	fr.Put(b, 0)
	var a Account
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const streams = MaxRuns
	for i := range streams {
		fr.Stamp(b, Stamp{Stream: uint16(i), Flow: MaxFlows - 1})
		a.Frame(b, 1)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / streams; each > 1<<18 || a.Received("x").RxPackets != streams {
		t.Errorf("a frame takes %d bytes; %+v", each, a.streams)
	}
}

func FuzzFindStamp(f *testing.F) {
	fr := framer(f, "198.18.0.1", "198.19.0.1", 64)
	b := make([]byte, 60)
	fr.Put(b, 1)
	fr.Stamp(b, Stamp{Stream: 1})
	f.Add(b)
	f.Add(fr.End(1, Stamp{}, Ending{Workers: 1, Total: 3}))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := Account{MaxFlows: 100}
		a.Frame(b, 1)
		if r := a.Received("fuzz"); r.RxPackets+r.Foreign > 1 {
			t.Errorf("one frame counted as %d and %d", r.RxPackets, r.Foreign)
		}
	})
}

func FuzzReadEnding(f *testing.F) {
	f.Add(Ending{Workers: 1, Total: 3}.Append(nil))
	f.Add(Ending{Worker: 1, Workers: 2, Total: 3, NeverLeft: 2}.Append(make([]byte, 0, 60)))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadEnding(b)
		if err != nil {
			return
		}
		again, err := ReadEnding(m.Append(nil))
		if err != nil || again != m {
			t.Errorf("%+v came back as %+v, %v", m, again, err)
		}
		var e Endings
		e.Add(StreamRun{}, m)
		e.Complete(StreamRun{})
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.5Mpps", "3Gbit/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRate(s); err == nil && r.PPS > 0 {
			if again, err := ParseRate(r.String()); err != nil || again != r {
				t.Errorf("ParseRate(%q) = %v, which reads %v, %v", s, r, again, err)
			}
		}
	})
}
