package xdpload

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/load/wire/wiretest"
	"linerate/internal/port"
)

// lanes returns n links between two namespaces.
func lanes(t *testing.T, n int) (all []load.Lane, s load.Spec) {
	t.Helper()
	gens, sinks := wiretest.Many(t, n)
	for i := range gens {
		all = append(all, load.Lane{From: port.Port{In: gens[i].In, Device: gens[i].Device},
			To: port.Port{In: sinks[i].In, Device: sinks[i].Device}})
	}
	s = spec(gens[0], sinks[0], 2000, 64)
	s.SrcMAC = gens[0].MAC
	return all, s
}

func rounds(n int, order ...uint8) (all []uint8) {
	for range n {
		all = append(all, order...)
	}
	return all
}

// TestSlicerAccountsForEveryLane: each lane gets its slices in the plan's order, and every frame is in an
// account.
func TestSlicerAccountsForEveryLane(t *testing.T) {
	labtest.Namespaces(t)
	all, base := lanes(t, 3)
	v6 := func(s load.Spec) load.Spec {
		s.Flows.Src, s.Flows.Dst = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2:0:1::1")
		s.Sizes = []int{84}
		return s
	}
	with := func(s load.Spec, f func(*load.Spec)) load.Spec { f(&s); return s }
	for name, s := range map[string]load.Spec{
		"IPv4": base, "IPv6": v6(base),
		"IMIX":                        with(base, func(s *load.Spec) { s.Sizes = load.SimpleIMIX() }),
		"IPv6 mix":                    with(v6(base), func(s *load.Spec) { s.Sizes = []int{84, 1518, 100} }),
		"random":                      with(base, func(s *load.Spec) { s.Flows.Random = true }),
		"elephant":                    with(base, func(s *load.Spec) { s.Flows.Elephant = 0.7 }),
		"elephants both ways, random": both(with(base, func(s *load.Spec) { s.Flows.Random, s.Flows.Elephant = true, 0.3 })),
		"both ways":                   both(base), "IPv6 both ways": both(v6(base)),
		"IMIX both ways":   both(with(base, func(s *load.Spec) { s.Sizes = load.SimpleIMIX() })),
		"random both ways": both(with(base, func(s *load.Spec) { s.Flows.Random = true })),
	} {
		t.Run(name, func(t *testing.T) {
			made, err := New().(load.Interleaver).NewSlicer(s, 4)
			if err != nil {
				t.Fatal(err)
			}
			defer made.Close()
			plan := load.SlicePlan{Order: rounds(20, 2, 0, 1), Limit: 10 * time.Second, Slice: 100 * time.Microsecond, Guard: 128, Warm: 2500}
			for range 2 { // a second run starts from zero
				got, err := made.Run(context.Background(), all, plan)
				if err != nil {
					t.Fatal(err)
				}
				checkSliced(t, got, plan, uint64(s.Ways()))
			}
		})
	}
}

// both adds the replies, sent from the other end.
func both(s load.Spec) load.Spec {
	back := s
	back.SrcMAC, back.DstMAC, back.Flows.Reply = s.DstMAC, s.SrcMAC, true
	s.Back = &back
	return s
}

// TestSlicerSendsBothWaysAtOnce: each end sends half of every lane's frames, and the flows of the way
// back are the replies.
func TestSlicerSendsBothWaysAtOnce(t *testing.T) {
	labtest.Namespaces(t)
	all, base := lanes(t, 1)
	there := wiretest.End{Device: all[0].To.Device, In: all[0].To.In}
	made, err := New().(load.Interleaver).NewSlicer(both(base), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	plan := load.SlicePlan{Order: rounds(20, 0), Limit: 10 * time.Second, Slice: 100 * time.Microsecond, Guard: 128, Warm: 5000}
	got, err := made.Run(context.Background(), all, plan)
	if err != nil {
		t.Fatal(err)
	}
	streams, err := made.(*slicer).rx.streams()
	if err != nil {
		t.Fatal(err)
	}
	if len(streams) != 2 || streams[0].Received != streams[1].Received || 2*streams[0].Received != got.Lanes[0].RxPackets {
		t.Errorf("%+v of %+v; want two streams of as many frames", streams, got.Lanes[0])
	}
	if n := there.Received(t); 2*n != got.Lanes[0].RxPackets {
		t.Errorf("of %d frames %d arrived there, want half of them", got.Lanes[0].RxPackets, n)
	}
	for i, s := range streams {
		if s.Flows != 2000 || s.Duplicated+s.Reordered != 0 {
			t.Errorf("way %d: %d flows, %d duplicated, %d reordered", i, s.Flows, s.Duplicated, s.Reordered)
		}
	}
	if _, err := New().(load.Interleaver).NewSlicer(both(base), 9); err == nil {
		t.Error("nine lanes both ways were accepted, but have too many streams")
	}
}

func checkSliced(t *testing.T, got load.Sliced, plan load.SlicePlan, ways uint64) {
	t.Helper()
	if len(got.Slices) != len(plan.Order) {
		t.Fatalf("%d slices of %d", len(got.Slices), len(plan.Order))
	}
	measured := make([]uint64, len(got.Lanes))
	for i, s := range got.Slices {
		if s.Lane != int(plan.Order[i]) || s.Frames == 0 || s.Frames%batch != 0 || time.Duration(s.NS) < plan.Slice {
			t.Errorf("slice %d: %+v, want lane %d and whole batches for %v", i, s, plan.Order[i], plan.Slice)
		}
		measured[s.Lane] += uint64(s.Frames)
	}
	for i, l := range got.Lanes {
		guards := uint64(19*plan.Guard + (plan.Warm+batch-1)/batch*batch)
		if l.TxPackets != measured[i]+guards {
			t.Errorf("lane %d sent %d, want %d measured and %d before slices", i, l.TxPackets, measured[i], guards)
		}
		if l.RxPackets+l.Lost != l.TxPackets || l.Lost != 0 || l.RxBytes != l.TxBytes {
			t.Errorf("lane %d: %+v", i, l)
		}
		if l.Duplicated+l.Reordered != 0 || l.Flows == 0 || l.Flows > 2000*ways {
			t.Errorf("lane %d: %+v", i, l)
		}
	}
}

// TestSlicerStops: a run stops after a whole round at its limit, or when cancelled.
func TestSlicerStops(t *testing.T) {
	labtest.Namespaces(t)
	all, s := lanes(t, 2)
	made, err := New().(load.Interleaver).NewSlicer(s, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	plan := load.SlicePlan{Order: rounds(30_000, 0, 1), Limit: 50 * time.Millisecond, Slice: 100 * time.Microsecond, Guard: 64}
	got, err := made.Run(context.Background(), all, plan)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Slices); n == 0 || n%2 != 0 || n >= len(plan.Order) {
		t.Errorf("%d slices in 50 ms", n)
	}
	slow := plan
	slow.Limit, slow.Least = time.Nanosecond, 7
	if got, err := made.Run(context.Background(), all, slow); err != nil || len(got.Slices) != 8 {
		t.Errorf("%d slices, %v; want 8: whole rounds, 7 at least", len(got.Slices), err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	plan.Limit = time.Minute
	if _, err := made.Run(ctx, all, plan); err == nil {
		t.Error("a cancelled run returned no error")
	}
}

// TestSlicerWaitsBeforeEachTurn: Before is called once per turn, for its lane.
func TestSlicerWaitsBeforeEachTurn(t *testing.T) {
	labtest.Namespaces(t)
	all, s := lanes(t, 2)
	made, err := New().(load.Interleaver).NewSlicer(s, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	var called []uint8
	plan := load.SlicePlan{Order: rounds(5, 1, 1, 0, 0), Turn: 2, Limit: 10 * time.Second, Slice: 200 * time.Microsecond, Guard: 64,
		Before: func(lane int) error { called = append(called, uint8(lane)); return nil }}
	got, err := made.Run(context.Background(), all, plan)
	if err != nil {
		t.Fatal(err)
	}
	if want := rounds(5, 1, 0); string(called) != string(want) || len(got.Slices) != len(plan.Order) {
		t.Errorf("called before lanes %v, %d slices; want %v, %d", called, len(got.Slices), want, len(plan.Order))
	}
}
