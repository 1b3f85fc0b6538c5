package xdpload

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"linerate/internal/hint"
	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/load/wire/wiretest"
)

func spec(gen, sink wiretest.End, flows int, sizes ...int) load.Spec {
	return load.Spec{
		Device: gen.Device, DstMAC: sink.MAC, Stream: 5, Sizes: sizes, CPUs: []int{0}, Seed: 3,
		Flows: load.FlowSpace{Count: flows, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")},
	}
}

func receiver(t *testing.T, sink wiretest.End) load.Receiver {
	t.Helper()
	r, err := New().NewReceiver(sink.Device, sink.In, load.Watch{Stream: -1, MaxFlows: 1 << 17})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func run(t *testing.T, s load.Spec, o load.Offer, gen wiretest.End, r load.Receiver) (load.Sent, load.Received) {
	t.Helper()
	g, err := New().NewGenerator(s, gen.In)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := r.Reset(); err != nil {
		t.Fatal(err)
	}
	sent, err := g.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Finish(context.Background(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return sent, got
}

// TestAccountsForEveryFrame sends all kinds of traffic: rx + lost = tx.
func TestAccountsForEveryFrame(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r := receiver(t, sink)
	v6 := func(s load.Spec) load.Spec {
		s.Flows.Src, s.Flows.Dst = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2:0:1::1")
		return s
	}
	with := func(s load.Spec, f func(*load.Spec)) load.Spec { f(&s); return s }
	for _, c := range []struct {
		name string
		spec load.Spec
		pps  uint64
	}{
		{"1 flow", spec(gen, sink, 1, 64), 0},
		{"2000 flows", spec(gen, sink, 2000, 64), 0},
		{"100000 flows", spec(gen, sink, 100_000, 64), 0},
		{"IPv6", v6(spec(gen, sink, 2000, 84)), 0},
		{"IMIX", spec(gen, sink, 2000, load.SimpleIMIX()...), 0},
		{"IPv6 mix", v6(spec(gen, sink, 7, 84, 1518, 100)), 0},
		{"random", with(spec(gen, sink, 2000, 64), func(s *load.Spec) { s.Flows.Random = true }), 0},
		{"two workers", with(spec(gen, sink, 2001, 64), func(s *load.Spec) { s.CPUs = []int{0, 0} }), 0},
		{"paced", spec(gen, sink, 10, 64), 100_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := load.Offer{Rate: load.Rate{PPS: c.pps}, Limit: load.Limit{Packets: 20_011, Duration: 5 * time.Second}}
			sent, got := run(t, c.spec, o, gen, r)
			if got.Lost == nil {
				t.Fatalf("loss is unknown after a complete run: %+v", got)
			}
			if got.RxPackets+*got.Lost != sent.TxPackets || got.RxPackets == 0 {
				t.Errorf("rx %d + lost %d is not tx %d", got.RxPackets, *got.Lost, sent.TxPackets)
			}
			if *got.Lost != *sent.Refused {
				t.Errorf("lost %d, but the link refused %d", *got.Lost, *sent.Refused)
			}
			if *got.Lost == 0 && got.RxBytes != sent.TxBytes {
				t.Errorf("received %d bytes of %d", got.RxBytes, sent.TxBytes)
			}
			if got.Duplicated+got.Reordered+got.Foreign != 0 {
				t.Errorf("duplicated, reordered or foreign frames on a plain link: %+v", got)
			}
			if want := min(uint64(c.spec.Flows.Count), sent.TxPackets); *got.Lost == 0 && c.name != "random" && got.FlowsSeen != want {
				t.Errorf("saw %d flows of %d", got.FlowsSeen, want)
			}
		})
	}
}

// TestElephantsShareArrives: one flow gets its share of all frames, the others equal parts of the rest,
// and nothing is duplicated, late or lost because of it.
func TestElephantsShareArrives(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r := receiver(t, sink).(*Receiver)
	for name, change := range map[string]func(*load.Spec){
		"in turn": func(*load.Spec) {}, "random": func(s *load.Spec) { s.Flows.Random = true },
		"two workers": func(s *load.Spec) { s.CPUs = []int{0, 0} },
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(gen, sink, 100, 64)
			s.Flows.Elephant = 0.3
			change(&s)
			// No faster than the far end can receive, so that no frame is refused.
			sent, got := run(t, s, load.Offer{Rate: load.Rate{PPS: 50_000}, Limit: load.Limit{Packets: 20_000, Duration: 30 * time.Second}}, gen, r)
			if got.Lost == nil || got.RxPackets+*got.Lost != sent.TxPackets || got.Duplicated+got.Reordered != 0 || got.FlowsSeen != 100 {
				t.Fatalf("sent %d, received %+v", sent.TxPackets, got)
			}
			var first, last receiveReceiveFlow
			if err := errors.Join(r.objs.Flows.Lookup(uint32(0), &first), r.objs.Flows.Lookup(uint32(99), &last)); err != nil {
				t.Fatal(err)
			}
			lost := float64(*got.Lost)
			if share := 0.3 * float64(sent.TxPackets); float64(first.Received) > share+2 || float64(first.Received) < share-2-lost {
				t.Errorf("the first flow has %d of %d frames, want %g", first.Received, sent.TxPackets, share)
			}
			if most := 0.7 * float64(sent.TxPackets) / 99 * 2; float64(last.Received) > most || last.Received == 0 {
				t.Errorf("the last flow has %d frames, want %g at most", last.Received, most)
			}
		})
	}
}

// TestMoreFlowsThanAMillion: flows beyond 2²⁰ are distinct on both sides; otherwise their first frames
// would count as duplicates.
func TestMoreFlowsThanAMillion(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	const flows = 1<<20 + 3000
	r, err := New().NewReceiver(sink.Device, sink.In, load.Watch{Stream: -1, MaxFlows: flows})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sent, got := run(t, spec(gen, sink, flows, 64), load.Offer{Limit: load.Limit{Packets: flows, Duration: 30 * time.Second}}, gen, r)
	if got.Lost == nil || sent.TxPackets != flows || got.RxPackets+*got.Lost != flows {
		t.Fatalf("sent %d of %d, received %+v", sent.TxPackets, flows, got)
	}
	if got.Duplicated != 0 || got.FlowsSeen != got.RxPackets {
		t.Errorf("of %d frames of different flows, %d are duplicates, and %d flows were seen", got.RxPackets, got.Duplicated, got.FlowsSeen)
	}
}

// TestManyFlowsAreReset: with more flows than are reset at a time, none keeps state of the last run.
func TestManyFlowsAreReset(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r := receiver(t, sink)
	const flows = resetBatch + 3000
	for range 2 {
		sent, got := run(t, spec(gen, sink, flows, 64), load.Offer{Limit: load.Limit{Packets: flows, Duration: 30 * time.Second}}, gen, r)
		if sent.TxPackets != flows || got.Duplicated+got.Reordered != 0 || got.RxPackets == 0 || got.FlowsSeen != got.RxPackets {
			t.Errorf("sent %d of %d; %d arrived of %d flows, %d twice, %d late", sent.TxPackets, flows, got.RxPackets, got.FlowsSeen, got.Duplicated, got.Reordered)
		}
	}
}

// TestFramesAreAsTheFramerBuilds compares frames written by the eBPF program with those built in Go, in
// a page with leftover data.
func TestFramesAreAsTheFramerBuilds(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	receiver(t, sink)
	for _, v6 := range []bool{false, true} {
		for _, sizes := range [][]int{{100}, {100, 1518, 90}} {
			s := spec(gen, sink, 5, sizes...)
			if v6 {
				s.Flows.Src, s.Flows.Dst = netip.MustParseAddr("2001:2::ffff"), netip.MustParseAddr("2001:2:0:1::1")
			}
			made, err := New().NewGenerator(s, gen.In)
			if err != nil {
				t.Fatal(err)
			}
			g := made.(*Generator)
			compareFrames(t, g)
			g.Close()
		}
	}
}

func compareFrames(t *testing.T, g *Generator) {
	t.Helper()
	w := g.workers[0]
	if err := errors.Join(w.reset(g, 0, transmission{run: 77}), w.release(1, 0)); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		in := make([]byte, len(w.frame))
		for j := range g.framer.StampAt() + load.StampBytes {
			in[j] = byte(i*31 + j) // leftovers of the last use; zero after the stamp
		}
		out := make([]byte, len(w.frame))
		opts := ebpf.RunOptions{Data: in, DataOut: out}
		if _, err := w.objs.Generate.Run(&opts); err != nil {
			t.Fatal(err)
		}
		want := make([]byte, g.spec.Sizes[i%len(g.spec.Sizes)]-4)
		found, ok := load.FindStamp(opts.DataOut)
		if !ok {
			t.Fatalf("frame %d has no stamp: %x", i, opts.DataOut)
		}
		g.framer.Put(want, i%5)
		g.framer.Stamp(want, load.Stamp{Stream: 5, Run: 77, Flow: uint32(i % 5), Sequence: uint32(i / 5), Time: found.Time})
		if string(want) != string(opts.DataOut) {
			t.Fatalf("frame %d (IPv6 %v) is\n%x, want\n%x", i, g.framer.IPv6(), opts.DataOut, want)
		}
	}
}

// TestBatchesAreFullerBehindTheSchedule: if handing over is so slow that the rate is missed, batches grow.
func TestBatchesAreFullerBehindTheSchedule(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	receiver(t, sink)
	made, err := New().NewGenerator(spec(gen, sink, 5, 64), gen.In)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	g, most := made.(*Generator), 0.0
	for try := 0; try < 20 && most < 3; try++ { // other CPU load can only make batches smaller
		most = max(most, perBatch(t, g))
	}
	if most < 3 {
		t.Errorf("%.1f frames a batch, want 3 at least", most)
	}
}

// perBatch returns the frames per batch at 200,000 frames per second, one second behind schedule.
func perBatch(t *testing.T, g *Generator) float64 {
	t.Helper()
	const batches = 100
	w := g.workers[0]
	start := wire.Monotonic() - uint64(time.Second)
	if err := errors.Join(w.reset(g, 0, transmission{run: 77, target: 200_000}), w.release(start, time.Minute)); err != nil {
		t.Fatal(err)
	}
	opts := ebpf.RunOptions{Data: make([]byte, len(w.frame)), DataOut: make([]byte, len(w.frame)), Repeat: batches * pacedBatch}
	if _, err := w.objs.Generate.Run(&opts); err != nil {
		t.Fatal(err)
	}
	s, err := w.state()
	if err != nil {
		t.Fatal(err)
	}
	return float64(s.Sent) / batches
}

// TestReceiverAgreesWithGo gives lost, late and duplicated frames to the eBPF receiver and to the account
// in Go.
func TestReceiverAgreesWithGo(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r := receiver(t, sink).(*Receiver)
	f, err := load.NewFramer(func() load.Spec { s := spec(gen, sink, load.MaxFlows, 64); s.SrcMAC = gen.MAC; return s }())
	if err != nil {
		t.Fatal(err)
	}
	var account load.Account
	rng := rand.New(rand.NewPCG(1, 9))
	feed := func(b []byte) {
		opts := ebpf.RunOptions{Data: b}
		if _, err := r.objs.Receive.Run(&opts); err != nil {
			t.Fatal(err)
		}
		account.Frame(b, wire.Monotonic())
	}
	b := make([]byte, 60)
	total := uint64(0)
	for i := range 4000 {
		for _, flow := range []int{0, 1, 1024, 1 << 20, 2 << 20, load.MaxFlows - 1} {
			total++
			sequences := []int{i}
			switch rng.IntN(12) {
			case 0:
				sequences = nil
			case 1, 2:
				sequences = append(sequences, max(0, i-rng.IntN(600)))
			}
			for _, s := range sequences {
				f.Put(b, flow)
				f.Stamp(b, load.Stamp{Stream: 9, Run: 3, Flow: uint32(flow), Sequence: uint32(s), Time: wire.Monotonic()})
				feed(b)
			}
		}
	}
	feed(make([]byte, 60))                                                                    // foreign
	feed(f.Probe(60))                                                                         // not counted
	binary.BigEndian.PutUint16(b[12:], 0x0806)                                                // foreign
	feed(b)                                                                                   //
	feed(f.End(0, load.Stamp{Stream: 9, Run: 3}, load.Ending{Workers: 1, Total: total + 50})) // a tail of 50 was lost
	got, err := r.Finish(context.Background(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want := account.Received(Name)
	if got.RxPackets != want.RxPackets || got.Duplicated != want.Duplicated || got.Reordered != want.Reordered ||
		got.FlowsSeen != want.FlowsSeen || got.RxBytes != want.RxBytes || got.Foreign != 2 || want.Foreign != 2 {
		t.Errorf("eBPF counted %+v\nGo counted %+v", got, want)
	}
	if got.Lost == nil || want.Lost == nil || *got.Lost != *want.Lost || got.RxPackets+*got.Lost != total+50 {
		t.Errorf("lost %v and %v of %d", got.Lost, want.Lost, total+50)
	}
}

// TestEndsBehindTags: the longest end of stream, with the tags that a link may add, closes the account.
func TestEndsBehindTags(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r := receiver(t, sink).(*Receiver)
	s := spec(gen, sink, 1, 84)
	s.SrcMAC, s.Flows.Src, s.Flows.Dst = gen.MAC, netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2:0:1::1")
	f, err := load.NewFramer(s)
	if err != nil {
		t.Fatal(err)
	}
	b := f.End(0, load.Stamp{Stream: 5, Run: 1}, load.Ending{Workers: 1, Total: 1 << 40, NeverLeft: 3})
	b = slices.Concat(b[:12], []byte{0x88, 0xa8, 0, 7, 0x81, 0, 0, 5}, b[12:], make([]byte, 200))
	if _, err := r.objs.Receive.Run(&ebpf.RunOptions{Data: b}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Finish(context.Background(), 5*time.Second)
	if err != nil || got.Lost == nil || *got.Lost != 1<<40-3 {
		t.Errorf("%+v, %v: want 2⁴⁰ − 3 frames lost", got, err)
	}
}

// TestBuckets compares the program's latency buckets with Go's.
func TestBuckets(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r := receiver(t, sink).(*Receiver)
	f, err := load.NewFramer(func() load.Spec { s := spec(gen, sink, 1, 64); s.SrcMAC = gen.MAC; return s }())
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 60)
	f.Put(b, 0)
	for i, ago := range []uint64{1e6, 1e8, 1e10, 3e10, 1e12 / 2} {
		if err := r.Reset(); err != nil {
			t.Fatal(err)
		}
		f.Stamp(b, load.Stamp{Run: uint16(i), Time: wire.Monotonic() - ago})
		opts := ebpf.RunOptions{Data: b}
		if _, err := r.objs.Receive.Run(&opts); err != nil {
			t.Fatal(err)
		}
		got, err := r.Snapshot()
		if err != nil || got.Latency == nil {
			t.Fatal(got, err)
		}
		if l := got.Latency; l.Min != l.Max || l.P50 != l.Max || l.Min < ago || l.Min > ago+1e9 {
			t.Errorf("a latency of %d ns or a little more reads %+v", ago, l)
		}
	}
}

// TestArrivalTimes: frames of one send time share a clock reading only briefly, others are timed one by
// one, and all are in the distribution.
func TestArrivalTimes(t *testing.T) {
	labtest.Need(t)
	gen, sink := wiretest.New(t)
	r := receiver(t, sink).(*Receiver)
	f, err := load.NewFramer(func() load.Spec { s := spec(gen, sink, 1, 64); s.SrcMAC = gen.MAC; return s }())
	if err != nil {
		t.Fatal(err)
	}
	sequence := uint32(0)
	feed := func(sent uint64) {
		b := make([]byte, 60)
		f.Put(b, 0)
		f.Stamp(b, load.Stamp{Run: 1, Sequence: sequence, Time: sent})
		sequence++
		if _, err := r.objs.Receive.Run(&ebpf.RunOptions{Data: b}); err != nil {
			t.Fatal(err)
		}
	}
	const early, pause = 1_000_000, 300 * time.Millisecond
	batch := wire.Monotonic() - early
	for range 3 {
		feed(batch)
	}
	soon := wire.Monotonic() - batch
	time.Sleep(pause * 5 / 4) // the same batch, but after a tick of the kernel
	for range 20 {
		feed(batch)
	}
	late := wire.Monotonic() - batch
	feed(wire.Monotonic() - 1e9) // of another send time
	streams, err := r.streams()
	if err != nil || len(streams) != 1 {
		t.Fatal(streams, err)
	}
	timed := uint64(0)
	for _, n := range streams[0].Latency.Counts {
		timed += n
	}
	if timed != 24 || streams[0].Received != 24 {
		t.Errorf("%d of %d frames are in the distribution, want 24", timed, streams[0].Received)
	}
	l := streams[0].Latency.Latency()
	if l.Min < early || l.Min > soon || l.P50 < uint64(pause) || l.P50 > late*5/4 || l.Max < 1e9 {
		t.Errorf("latencies %+v, want 3 of a millisecond, 20 beyond %v and one of a second", l, pause)
	}
}

func TestRefusals(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	for name, s := range map[string]load.Spec{
		"no such device":      func() load.Spec { s := spec(gen, sink, 1, 64); s.Device = "gen1"; return s }(),
		"larger than the MTU": spec(gen, sink, 1, 2000),
		"64 bytes of IPv6": func() load.Spec {
			s := spec(gen, sink, 1, 64)
			s.Flows.Src, s.Flows.Dst = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2::2")
			return s
		}(),
		"no such CPU": func() load.Spec { s := spec(gen, sink, 1, 64); s.CPUs = []int{1000}; return s }(),
	} {
		g, err := New().NewGenerator(s, gen.In)
		if err == nil {
			_, err = g.Run(context.Background(), load.Offer{})
			g.Close()
		}
		if err == nil || hint.Of(err) == "" {
			t.Errorf("%s: %v, want an error with a hint", name, err)
		}
	}
	g, err := New().NewGenerator(spec(gen, sink, 1, 64), gen.In)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Run(context.Background(), load.Offer{}); !errors.Is(err, load.ErrNotHere) || hint.Of(err) == "" {
		t.Errorf("a peer without NAPI: %v, want ErrNotHere with a hint", err)
	}
	receiver(t, sink)
	if _, err := New().NewReceiver(sink.Device, sink.In, load.Watch{Stream: -1}); err == nil || hint.Of(err) == "" {
		t.Errorf("a second receiver: %v, want an error with a hint", err)
	}
}

// TestInterruptedRunStillEnds: a run that is cancelled in the middle still sends its endings.
func TestInterruptedRunStillEnds(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r := receiver(t, sink)
	g, err := New().NewGenerator(spec(gen, sink, 100, 64), gen.In)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		labtest.Eventually(func() bool {
			got, err := r.Snapshot()
			return err != nil || got.RxPackets > 0
		})
	}()
	sent, err := g.Run(ctx, load.Offer{})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	got, err := r.Finish(context.Background(), labtest.Patience)
	if err != nil || got.Lost == nil || got.RxPackets+*got.Lost != sent.TxPackets || sent.TxPackets == 0 {
		t.Errorf("interrupted after %d frames, received %+v, %v", sent.TxPackets, got, err)
	}
}
