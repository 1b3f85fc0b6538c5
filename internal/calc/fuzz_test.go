package calc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// FuzzQuantities: what is read as a quantity is a number, and reads the same with blanks
// around it; a range's ends are in order.
func FuzzQuantities(f *testing.F) {
	for _, s := range []string{"10G", "10 Gb/s", "64K", "16MiB", "13ms", "1e3", "1_000", "-1", "+5", "1e", "1e+", ".", "5 µs", "25GbE", "1kB-2kB", "99999999999999999999e999"} {
		f.Add(s)
	}
	units := []Unit{Count, BitsPerSecond, Bytes, BytesPerSecond, Seconds, PacketsPerSecond, PerSecond, Percent}
	f.Fuzz(func(t *testing.T, text string) {
		for _, u := range units {
			v, err := Parse(text, u)
			if err != nil {
				if len(err.Error()) > 400 {
					t.Errorf("an error of %d bytes", len(err.Error()))
				}
				continue
			}
			if math.IsNaN(v) {
				t.Errorf("%q in %s is no number", text, u)
			}
			if again, err := Parse(" "+text+"\t", u); err != nil || again != v {
				t.Errorf("%q in %s: %g, with blanks %g, %v", text, u, v, again, err)
			}
			if lo, hi, err := ParseRange(text, u); err == nil && hi < lo {
				t.Errorf("%q ranges from %g to %g", text, lo, hi)
			}
			Format(v, u)
		}
	})
}

// pcapOf is a capture in the first format, of a byte order, with these packets.
func pcapOf(order binary.AppendByteOrder, link uint32, packets ...[]byte) []byte {
	b := order.AppendUint32(nil, capturedMicro)
	b = order.AppendUint16(order.AppendUint16(b, 2), 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(order.AppendUint32(b, 65535), link)
	for _, p := range packets {
		b = append(b, make([]byte, 8)...)
		b = order.AppendUint32(order.AppendUint32(b, uint32(len(p))), uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// packetsOf reads a capture to its end.
func packetsOf(t *testing.T, file []byte) (packets []string, err error) {
	t.Helper()
	c, err := openCapture(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	for {
		p, err := c.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return packets, err
		}
		packets = append(packets, string(p))
	}
}

// TestCaptureHeads: either byte order, whole packets only, and what is no capture.
func TestCaptureHeads(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		got, err := packetsOf(t, pcapOf(order, linkEthernet, []byte("one"), nil, []byte("three")))
		if err != nil || strings.Join(got, ",") != "one,,three" {
			t.Errorf("%v: %q, %v", order, got, err)
		}
	}
	good := pcapOf(binary.LittleEndian, linkEthernet, []byte("one"))
	huge := bytes.Clone(good)
	binary.LittleEndian.PutUint32(huge[24+8:], 1<<31)
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"empty":         {nil, "it is empty"},
		"short":         {good[:20], "it has 20 bytes"},
		"another link":  {pcapOf(binary.BigEndian, 113), "link type is 113"},
		"no capture":    {bytes.Repeat([]byte("text "), 10), "it begins with 74 65 78 74"},
		"cut in a head": {good[:24+7], "unexpected EOF"},
		"cut in one":    {good[:len(good)-1], "unexpected EOF"},
		"a huge packet": {huge, "a packet claims 2147483648 captured bytes"},
		"a section cut": {append([]byte{0x0a, 0x0d, 0x0d, 0x0a}, make([]byte, 20)...), "byte order"},
	} {
		if got, err := packetsOf(t, c.file); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.says)
		}
	}
}

// FuzzCapture: a capture from anywhere ends, and no packet is longer than what is there.
func FuzzCapture(f *testing.F) {
	f.Add(pcapOf(binary.LittleEndian, linkEthernet, []byte("one")))
	f.Add(pcapOf(binary.BigEndian, linkEthernet, bytes.Repeat([]byte{8, 0, 0x45}, 30)))
	f.Add([]byte{0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 28, 0, 0, 0})
	f.Fuzz(func(t *testing.T, file []byte) {
		packets, _ := packetsOf(t, file)
		n := 0
		for _, p := range packets {
			n += len(p)
		}
		if n > len(file) {
			t.Errorf("%d bytes of packets in a file of %d", n, len(file))
		}
	})
}

// TestFactors: a bare prefix is binary behind a size only, and no part of a second: 1m may be a minute.
func TestFactors(t *testing.T) {
	for _, c := range []struct {
		text string
		unit Unit
		want float64 // 0: refused
	}{
		{"64K", Bytes, 65536}, {"64kB", Bytes, 64000}, {"64KiB", Bytes, 65536}, {"64K", PacketsPerSecond, 64000}, {"1m", Bytes, 1 << 20}, {"1mB", Bytes, 0}, {"1m", Seconds, 0}, {"1ms", Seconds, 0.001},
		{"2min", Seconds, 120}, {"2h", Seconds, 7200}, {"3µs", Seconds, 3e-6}, {"3us", Seconds, 3e-6}, {"5n", Seconds, 0}, {"5ns", Seconds, 5e-9}, {"8B/s", BitsPerSecond, 64}, {"1GB/s", BitsPerSecond, 8e9}, {"8b/s", BytesPerSecond, 1},
		{"8Gbit/s", BytesPerSecond, 1e9}, {"100GbE", BitsPerSecond, 1e11}, {"1.488Mpps", PacketsPerSecond, 1.488e6}, {"5%", Percent, 5}, {"5", Percent, 5}, {"5k", Count, 5000}, {"5 s", Bytes, 0}, {"1Ti", Bytes, 1 << 40}, {"1e3", Count, 1000},
		{"1e3 kB", Bytes, 1e6}, {"1_500", Bytes, 1500}, {"--1", Count, 0}, {"1e400", Count, 0}, {"0x10", Count, 0}, {"Inf", Count, 0}, {"NaN", Seconds, 0},
	} {
		got, err := Parse(c.text, c.unit)
		if (err != nil) != (c.want == 0) || math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%q in %s: %g, %v; want %g", c.text, c.unit, got, err, c.want)
		}
	}
	if _, err := Parse(strings.Repeat("9x", 5000), Bytes); err == nil || len(err.Error()) > 200 {
		t.Errorf("what is refused is quoted whole: %d bytes", len(err.Error()))
	}
}

// TestAggregationBounds: out of sequence, alone, too long, and more connections than entries.
func TestAggregationBounds(t *testing.T) {
	s := func(flow int, seq uint32, payload int) Segment {
		return Segment{Flow: flow, Hash: uint32(flow), Seq: seq, Payload: payload}
	}
	alone := s(1, 100, 100)
	alone.Alone = true
	for name, c := range map[string]struct {
		l    LRO
		in   []Segment
		want int
	}{
		"none":                     {LRO{Batch: 8, Entries: 1}, nil, 0},
		"in sequence":              {LRO{Batch: 8, Entries: 1}, []Segment{s(1, 0, 100), s(1, 100, 100), s(1, 200, 100)}, 1},
		"a gap":                    {LRO{Batch: 8, Entries: 1}, []Segment{s(1, 0, 100), s(1, 200, 100), s(1, 300, 100)}, 2},
		"alone in between":         {LRO{Batch: 8, Entries: 1}, []Segment{s(1, 0, 100), alone, s(1, 200, 100)}, 3},
		"the sequence wraps":       {LRO{Batch: 8, Entries: 1}, []Segment{s(1, math.MaxUint32-49, 50), s(1, 0, 50)}, 1},
		"just fits":                {LRO{Batch: 8, Entries: 1}, []Segment{s(1, 0, lroLimit-1), s(1, lroLimit-1, 1)}, 1},
		"one byte too many":        {LRO{Batch: 8, Entries: 1}, []Segment{s(1, 0, lroLimit), s(1, lroLimit, 1)}, 2},
		"one entry for two":        {LRO{Batch: 8, Entries: 1}, []Segment{s(1, 0, 1), s(2, 0, 1), s(1, 1, 1), s(2, 1, 1)}, 3},
		"two entries":              {LRO{Batch: 8, Entries: 2}, []Segment{s(1, 0, 1), s(2, 0, 1), s(1, 1, 1), s(2, 1, 1)}, 2},
		"sorted, one entry":        {LRO{Batch: 8, Entries: 1, Sorted: true}, []Segment{s(1, 0, 1), s(2, 0, 1), s(1, 1, 1), s(2, 1, 1)}, 2},
		"a batch's end":            {LRO{Batch: 2, Entries: 2}, []Segment{s(1, 0, 1), s(1, 1, 1), s(1, 2, 1), s(1, 3, 1)}, 2},
		"no batch is one by one":   {LRO{Entries: 2}, []Segment{s(1, 0, 1), s(1, 1, 1)}, 2},
		"no entries are one entry": {LRO{Batch: 8}, []Segment{s(1, 0, 1), s(1, 1, 1)}, 1},
	} {
		if got := c.l.Aggregations(c.in); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestArrivals: as many as were asked for, in bursts, each connection in sequence, and the
// same by the same seed.
func TestArrivals(t *testing.T) {
	a, b := Arrivals(1000, 7, 3, 5), Arrivals(1000, 7, 3, 5)
	next, hashes := map[int]uint32{}, map[int]uint32{}
	for i, s := range a {
		if s != b[i] {
			t.Fatal("one seed gives two sequences")
		}
		if want, seen := next[s.Flow]; seen && (s.Seq != want || s.Hash != hashes[s.Flow]) {
			t.Fatalf("segment %d: %+v, want sequence %d", i, s, want)
		}
		next[s.Flow], hashes[s.Flow] = s.Seq+uint32(s.Payload), s.Hash
		if i%3 != 0 && s.Flow != a[i-1].Flow {
			t.Errorf("segment %d breaks a burst", i)
		}
	}
	if len(a) != 1000 || len(next) != 7 {
		t.Errorf("%d segments of %d connections", len(a), len(next))
	}
}
