package load

import (
	"math"
	"net/netip"
	"slices"
	"testing"
)

// TestAlongsideAddsAccountsOfTheSameTime: rates are added, times are not.
func TestAlongsideAddsAccountsOfTheSameTime(t *testing.T) {
	n := func(v uint64) *uint64 { return &v }
	s := Sent{TxPackets: 100, Seconds: 2, TxPPS: 50, TargetPPS: 50}.Alongside(Sent{TxPackets: 90, Unsent: 10, Seconds: 1.9, TxPPS: 45, TargetPPS: 50, PacingError: 0.1})
	if s.TxPackets != 190 || s.Unsent != 10 || s.Seconds != 2 || s.TxPPS != 95 || s.TargetPPS != 100 || s.PacingError != 0.1 {
		t.Errorf("%+v", s)
	}
	r := Received{RxPackets: 80, Lost: n(20), Seconds: 2, FlowsSeen: 7}.Alongside(Received{RxPackets: 90, Lost: n(0), Seconds: 1, FlowsSeen: 5})
	if r.RxPackets != 170 || *r.Lost != 20 || r.Seconds != 2 || r.RxPPS != 85 || r.FlowsSeen != 12 {
		t.Errorf("%+v", r)
	}
}

// TestReplies: the replies are the other direction of each flow, whatever its ranges.
func TestReplies(t *testing.T) {
	f := FlowSpace{Count: 500, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1"), SrcSpan: 3, DstSpan: 7}.WithDefaults()
	back := f
	back.Reply = true
	for i := range f.Count {
		if a, b := f.Tuple(i), back.Tuple(i); b != (Tuple{a.Dst, a.Src, a.DstPort, a.SrcPort}) {
			t.Fatalf("flow %d: %v is answered by %v", i, a, b)
		}
	}
}

func TestPlusAddsAccounts(t *testing.T) {
	n := func(v uint64) *uint64 { return &v }
	a := Sent{Engine: "xdp", TxPackets: 100, TxBytes: 6400, Unsent: 5, Refused: n(3), Seconds: 1, TargetPPS: 105}
	b := Sent{Engine: "xdp", TxPackets: 300, TxBytes: 19200, Refused: n(1), Seconds: 3, TargetPPS: 105}
	s := a.Plus(b)
	if s.TxPackets != 400 || s.TxBytes != 25600 || s.Unsent != 5 || *s.Refused != 4 || s.Seconds != 4 || s.TxPPS != 100 || math.Abs(s.PacingError-5.0/105) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if b.Refused = nil; a.Plus(b).Refused != nil {
		t.Error("the sum of known and unknown refusals must be unknown")
	}

	var early, late Histogram
	for range 90 {
		early.Count(100)
	}
	for range 10 {
		late.Count(1000)
	}
	r := Received{RxPackets: 90, Lost: n(10), Seconds: 1, FlowsSeen: 7, Delays: early, Latency: early.Latency()}.Plus(
		Received{RxPackets: 10, Lost: n(0), Seconds: 1, FlowsSeen: 5, Delays: late, Latency: late.Latency()})
	if r.RxPackets != 100 || *r.Lost != 10 || r.RxPPS != 50 || r.FlowsSeen != 7 || r.Latency.Min != 100 || r.Latency.P50 > 110 || r.Latency.P99 < 900 || r.Latency.Max != 1000 {
		t.Errorf("%+v %+v", r, r.Latency)
	}
	if early.Total() != 90 {
		t.Error("Plus modified its argument")
	}
	if r.Plus(Received{}).Lost != nil {
		t.Error("the sum of known and unknown loss must be unknown")
	}
}

// TestPlusAddsEachWay: received frames are added per way over all transmissions, and equal warnings are
// kept once.
func TestPlusAddsEachWay(t *testing.T) {
	n := func(v uint64) *uint64 { return &v }
	slice := func(packets, lost, delay uint64, pps float64, warning string) Received {
		var d Histogram
		d.Count(delay)
		ways := []WayReceived{
			{Way: "a → b", TxPackets: n(packets + lost), RxPackets: packets, RxPPS: pps, Lost: n(lost), Delays: d, Latency: d.Latency()},
			{Way: "b → a", RxPackets: 1, RxPPS: 1, Lost: n(0)},
		}
		return Received{RxPackets: packets + 1, Ways: ways, Warnings: []string{"generic", warning}}
	}
	first := slice(100, 5, 10, 100, "one")
	got := first.Plus(slice(300, 0, 1000, 300, "two")).Plus(Received{Ways: []WayReceived{{Way: "b → a", RxPackets: 2}, {Way: "c → d"}}})
	a, b := got.Ways[0], got.Ways[1]
	if len(got.Ways) != 3 || *a.TxPackets != 405 || a.RxPackets != 400 || a.RxPPS != 200 || *a.Lost != 5 || a.Latency.Min != 10 || a.Latency.Max != 1000 {
		t.Errorf("%+v %+v", got.Ways, a.Latency)
	}
	if b.RxPackets != 4 || b.Lost != nil || b.TxPackets != nil || b.RxPPS != 2 {
		t.Errorf("%+v", b)
	}
	if !slices.Equal(got.Warnings, []string{"generic", "one", "two"}) {
		t.Errorf("%q", got.Warnings)
	}
	if first.Ways[0].RxPackets != 100 || len(first.Warnings) != 2 {
		t.Errorf("Plus modified its argument: %+v", first)
	}
}
