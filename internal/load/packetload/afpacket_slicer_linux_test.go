package packetload

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

// TestSlicer: every lane gets its slices in the plan's order, and every frame is in its lane's account.
func TestSlicer(t *testing.T) {
	t.Run("one way", func(t *testing.T) { testSlicer(t, 1) })
	t.Run("both ways", func(t *testing.T) { testSlicer(t, 2) })
}

func testSlicer(t *testing.T, ways uint64) {
	labtest.Namespaces(t)
	gens, sinks := wiretest.Many(t, 3)
	var lanes []load.Lane
	for i := range gens {
		lanes = append(lanes, load.Lane{From: port.Port{In: gens[i].In, Device: gens[i].Device},
			To: port.Port{In: sinks[i].In, Device: sinks[i].Device}})
	}
	spec := load.Spec{SrcMAC: gens[0].MAC, DstMAC: sinks[0].MAC, Sizes: load.SimpleIMIX(), CPUs: []int{0}, Seed: 3,
		Flows: load.FlowSpace{Count: 200, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}}
	if ways > 1 {
		back := spec
		back.SrcMAC, back.DstMAC, back.Flows.Reply = spec.DstMAC, spec.SrcMAC, true
		spec.Back = &back
	}
	s, err := NewAFPacket().(load.Interleaver).NewSlicer(spec, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var called []uint8
	plan := load.SlicePlan{Order: []uint8{2, 0, 1, 1, 2, 0, 0, 1, 2}, Limit: 10 * time.Second, Slice: 100 * time.Microsecond, Guard: 128, Warm: 300,
		Before: func(lane int) error { called = append(called, uint8(lane)); return nil }}
	got, err := s.Run(context.Background(), lanes, plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Slices) != len(plan.Order) || string(called) != string(plan.Order) {
		t.Fatalf("%d slices of %d, called before %v", len(got.Slices), len(plan.Order), called)
	}
	measured := make([]uint64, 3)
	for i, one := range got.Slices {
		if one.Lane != int(plan.Order[i]) || one.Frames == 0 || time.Duration(one.NS) < plan.Slice {
			t.Errorf("slice %d: %+v", i, one)
		}
		measured[one.Lane] += uint64(one.Frames)
	}
	for i, l := range got.Lanes {
		// 300 and twice 128 frames before slices, in whole batches
		if want := measured[i] + 320 + 2*128; l.TxPackets != want || l.RxPackets+l.Lost != l.TxPackets || l.Lost != 0 {
			t.Errorf("lane %d: %+v, want %d sent", i, l, want)
		}
		if l.RxBytes != l.TxBytes || l.Flows != 200*ways || l.Duplicated+l.Reordered != 0 {
			t.Errorf("lane %d: %+v", i, l)
		}
		if there, back := sinks[i].Received(t), gens[i].Received(t); there != l.TxPackets/ways || there+back != l.TxPackets {
			t.Errorf("lane %d: of %d frames %d arrived on the way there and %d on the way back", i, l.TxPackets, there, back)
		}
	}
	plan.Limit, plan.Least = time.Nanosecond, 4
	if got, err := s.Run(context.Background(), lanes, plan); err != nil || len(got.Slices) != 6 {
		t.Errorf("%d slices, %v; want 6: whole rounds, 4 at least", len(got.Slices), err)
	}
}
