package load

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestADeadWayHasItsTime: a way on which nothing arrived in one of two transmissions has half the rate
// over both.
func TestADeadWayHasItsTime(t *testing.T) {
	alive := Received{RxPackets: 200, Seconds: 1, Ways: []WayReceived{{Way: "a → b", RxPackets: 100, RxPPS: 100}, {Way: "c → d", RxPackets: 100, RxPPS: 100}}}
	dead := Received{RxPackets: 100, Seconds: 1, Ways: []WayReceived{{Way: "a → b", RxPackets: 100, RxPPS: 100}, {Way: "c → d"}}}
	for name, got := range map[string]Received{"it died": alive.Plus(dead), "it came back": dead.Plus(alive)} {
		if got.RxPPS != 150 || got.Ways[0].RxPPS != 100 || got.Ways[1].RxPPS != 50 {
			t.Errorf("%s: %g pps of all, %g and %g of the ways; want 150, 100 and 50", name, got.RxPPS, got.Ways[0].RxPPS, got.Ways[1].RxPPS)
		}
	}
}

func someHistogram(r *rand.Rand, n int) (h Histogram) {
	for range n {
		h.Count(r.Uint64N(1 << (1 + r.IntN(40))))
	}
	return h
}

// TestMergedInAnyOrder: merging the parts' histograms gives that of the whole, in any order.
func TestMergedInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var whole, left, right Histogram
		var parts []Histogram
		for range 4 {
			var part Histogram
			for range r.IntN(50) {
				v := r.Uint64N(1 << (1 + r.IntN(40)))
				part.Count(v)
				whole.Count(v)
			}
			parts = append(parts, part)
		}
		for i := range parts {
			left.Merge(parts[i])
			right.Merge(parts[len(parts)-1-i])
		}
		for _, h := range []Histogram{left, right} {
			if !slices.Equal(h.Counts, whole.Counts) || h.Least != whole.Least || h.Most != whole.Most || h.Total() != whole.Total() {
				t.Fatalf("merged: %d from %d to %d, want %d from %d to %d", h.Total(), h.Least, h.Most, whole.Total(), whole.Least, whole.Most)
			}
		}
	}
	var none Histogram
	if none.Latency() != nil || none.Quantile(0.5) != 0 {
		t.Error("an empty histogram has a latency")
	}
}

// TestQuantilesGrow: quantiles grow, lie between minimum and maximum, and are close to those of a list.
func TestQuantilesGrow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		var h Histogram
		var list []uint64
		for range 1 + r.IntN(300) {
			v := r.Uint64N(1 << (1 + r.IntN(35)))
			list = append(list, v)
			h.Count(v)
		}
		slices.Sort(list)
		last := uint64(0)
		for q := 0.0; q <= 1; q += 0.01 {
			got := h.Quantile(q)
			want := list[max(0, int(math.Ceil(q*float64(len(list))-1e-6))-1)]
			if got < last || got < h.Least || got > h.Most || math.Abs(float64(got)-float64(want)) > 0.016*float64(want)+1 {
				t.Fatalf("quantile %g of %d is %d after %d, want about %d", q, len(list), got, last, want)
			}
			last = got
		}
	}
}

// TestAccountsAddUp: accounts of consecutive or simultaneous transmissions add up in either order.
func TestAccountsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n := func(v uint64) *uint64 { return &v }
	sent := func() Sent {
		s := Sent{TxPackets: 1 + r.Uint64N(1e6), Unsent: r.Uint64N(9), Seconds: 1 + r.Float64(), TargetPPS: 1e6, Refused: n(r.Uint64N(5))}
		s.TxBytes, s.TxPPS = 64*s.TxPackets, float64(s.TxPackets)/s.Seconds
		s.PacingError = math.Abs(s.TxPPS/s.TargetPPS - 1)
		return s
	}
	received := func() Received {
		g := Received{RxPackets: r.Uint64N(1e6), Seconds: 1 + r.Float64(), Lost: n(r.Uint64N(7)), TxPackets: n(r.Uint64N(1e6)), Duplicated: r.Uint64N(3), Reordered: r.Uint64N(3), FlowsSeen: r.Uint64N(100), Foreign: r.Uint64N(3), Dropped: r.Uint64N(3)}
		g.RxPPS = float64(g.RxPackets) / g.Seconds
		g.Delays = someHistogram(r, 5)
		g.Latency = g.Delays.Latency()
		return g
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }
	for range 20 {
		a, b, c := sent(), sent(), sent()
		for what, pair := range map[string][2]Sent{"after": {a.Plus(b).Plus(c), c.Plus(a.Plus(b))}, "beside": {a.Alongside(b), b.Alongside(a)}} {
			x, y := pair[0], pair[1]
			if x.TxPackets != y.TxPackets || x.TxBytes != y.TxBytes || x.Unsent != y.Unsent || *x.Refused != *y.Refused || !near(x.Seconds, y.Seconds) || !near(x.TxPPS, y.TxPPS) || !near(x.PacingError, y.PacingError) {
				t.Fatalf("%s: %+v, the other way %+v", what, x, y)
			}
		}
		if p := a.Plus(b); !near(p.TxPPS*p.Seconds, float64(p.TxPackets)) || !near(p.PacingError, math.Abs(p.TxPPS/1e6-1)) {
			t.Fatalf("after: %+v", p)
		}
		if p := a.Alongside(b); p.Seconds != math.Max(a.Seconds, b.Seconds) || p.TargetPPS != 2e6 || !near(p.TxPPS, a.TxPPS+b.TxPPS) || p.PacingError != math.Max(a.PacingError, b.PacingError) {
			t.Fatalf("beside: %+v", p)
		}
		if a.Refused = nil; a.Plus(b).Refused != nil || b.Plus(a).Refused != nil {
			t.Fatal("the sum is known although one part is not")
		}
		g, h := received(), received()
		for what, pair := range map[string][2]Received{"after": {g.Plus(h), h.Plus(g)}, "beside": {g.Alongside(h), h.Alongside(g)}} {
			x, y := pair[0], pair[1]
			if x.RxPackets != y.RxPackets || *x.Lost != *y.Lost || *x.TxPackets != *y.TxPackets || x.Duplicated != y.Duplicated || x.Reordered != y.Reordered || x.FlowsSeen != y.FlowsSeen ||
				x.Foreign != y.Foreign || x.Dropped != y.Dropped || !near(x.RxPPS, y.RxPPS) || *x.Latency != *y.Latency {
				t.Fatalf("%s: %+v, the other way %+v", what, x, y)
			}
			if x.Delays.Total() != 10 || x.Latency.Min != min(g.Latency.Min, h.Latency.Min) || x.Latency.Max != max(g.Latency.Max, h.Latency.Max) {
				t.Fatalf("%s: latency %+v of %+v and %+v", what, x.Latency, g.Latency, h.Latency)
			}
		}
		if p, q := g.Plus(h), g.Alongside(h); p.FlowsSeen != max(g.FlowsSeen, h.FlowsSeen) || q.FlowsSeen != g.FlowsSeen+h.FlowsSeen || !near(p.Seconds, g.Seconds+h.Seconds) || q.Seconds != math.Max(g.Seconds, h.Seconds) {
			t.Fatalf("%+v, %+v", p, q)
		}
		if h.Lost = nil; g.Plus(h).Lost != nil || h.Alongside(g).Lost != nil {
			t.Fatal("the sum of losses is known although one is not")
		}
	}
}

// TestRatesAreReadAsWritten: a rate is the same after it was written and read, in any unit.
func TestRatesAreReadAsWritten(t *testing.T) {
	for _, text := range []string{"max", "1", "1pps", "999999999999", "1.5Mpps", "3Gbps", "0.001k", "2500 fps", "10 Mbit/s", "7/s", "1e12bps"} {
		r, err := ParseRate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if again, err := ParseRate(r.String()); err != nil || again != r {
			t.Errorf("%s is %s, which is read as %s, %v", text, r, again, err)
		}
	}
	for _, bad := range []string{"1e13", "0.4", "-5k", "k", "pps", "1kk", "1 2", "0x10", "1Tbps"} {
		if r, err := ParseRate(bad); err == nil && bad != "0x10" {
			t.Errorf("%q is %s", bad, r)
		}
	}
	for _, c := range []struct {
		rate  Rate
		sizes []int
		want  float64
	}{{Rate{BPS: 672}, []int{64, 104}, 1}, {Rate{PPS: 5}, []int{1518}, 5}, {Rate{}, []int{64}, 0}, {Rate{BPS: 8}, nil, math.Inf(1)}} {
		if got := c.rate.FramesPerSecond(c.sizes); got != c.want {
			t.Errorf("%s of %v are %g frames a second, want %g", c.rate, c.sizes, got, c.want)
		}
	}
}

// TestFlowSpacesHold: every valid flow space has as many distinct flows as it claims, within its ranges,
// and uses as many addresses as Used returns.
func TestFlowSpacesHold(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	valid := 0
	for range 400 {
		f := FlowSpace{Count: 1 + r.IntN(300), SrcSpan: r.IntN(6), DstSpan: r.IntN(6), SrcPorts: r.IntN(40), DstPorts: r.IntN(4), Reply: r.IntN(4) == 0,
			Src: netip.MustParseAddr("198.18.0.250"), Dst: netip.MustParseAddr("198.19.255.254")}
		if r.IntN(2) == 0 {
			f.Src, f.Dst = netip.MustParseAddr("2001:2::fffe"), netip.MustParseAddr("2001:2::1:0")
		}
		if f.Validate() != nil {
			continue
		}
		valid++
		d := f.WithDefaults()
		seen, srcs, dsts := map[Tuple]bool{}, map[netip.Addr]bool{}, map[netip.Addr]bool{}
		for i := range d.Count {
			tuple := d.Tuple(i)
			seen[tuple] = true
			if d.Reply {
				tuple = Tuple{tuple.Dst, tuple.Src, tuple.DstPort, tuple.SrcPort}
			}
			srcs[tuple.Src], dsts[tuple.Dst] = true, true
			if tuple.Src.Compare(d.Src) < 0 || tuple.Dst.Compare(d.Dst) < 0 || int(tuple.SrcPort) >= int(d.SrcPort)+d.SrcPorts || int(tuple.DstPort) >= int(d.DstPort)+d.DstPorts {
				t.Fatalf("%+v: flow %d is %s", d, i, tuple)
			}
		}
		if len(seen) != d.Count || len(srcs) != min(d.Count, d.SrcSpan) || len(dsts) > d.DstSpan {
			t.Fatalf("%+v: %d distinct flows, %d sources, %d destinations", d, len(seen), len(srcs), len(dsts))
		}
	}
	if valid < 50 {
		t.Errorf("only %d spaces are valid", valid)
	}
}

// TestFlowSpacesRefused: invalid flow spaces are refused, each with a reason.
func TestFlowSpacesRefused(t *testing.T) {
	good := FlowSpace{Count: 1, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*FlowSpace){
		"from 1 to":            func(f *FlowSpace) { f.Count = MaxFlows + 1 },
		"need a source":        func(f *FlowSpace) { f.Src = netip.Addr{} },
		"differ in IP version": func(f *FlowSpace) { f.Dst = netip.MustParseAddr("::ffff:198.19.0.1") },
		"would be dropped":     func(f *FlowSpace) { f.Src = netip.MustParseAddr("224.0.0.1") },
		"address ranges of":    func(f *FlowSpace) { f.SrcSpan = MaxFlows + 1 },
		"beyond 65535":         func(f *FlowSpace) { f.SrcPort, f.SrcPorts = 65000, 600 },
		"go beyond the last":   func(f *FlowSpace) { f.Dst, f.DstSpan = netip.MustParseAddr("255.255.255.254"), 3 },
		"ranges hold 6":        func(f *FlowSpace) { f.Count, f.SrcPorts, f.DstPorts, f.SrcSpan = 7, 3, 1, 2 },
	} {
		f := good
		change(&f)
		if err := f.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
