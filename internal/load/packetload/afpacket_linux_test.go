package packetload

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/load/wire/wiretest"
)

func TestAccountsForEveryFrame(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r, err := NewAFPacket().NewReceiver(sink.Device, sink.In, load.Watch{Stream: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct {
		name, src, dst string
		flows          int
		sizes          []int
		random         bool
		pps            uint64
		elephant       float64
	}{
		{"64 bytes", "198.18.0.1", "198.19.0.1", 2000, []int{64}, false, 0, 0},
		{"IPv6", "2001:2::1", "2001:2:0:1::1", 10, []int{84}, false, 0, 0},
		{"IMIX", "198.18.0.1", "198.19.0.1", 3, load.SimpleIMIX(), false, 0, 0},
		{"random", "198.18.0.1", "198.19.0.1", 2000, []int{64}, true, 0, 0},
		{"elephant", "198.18.0.1", "198.19.0.1", 2000, load.SimpleIMIX(), false, 0, 0.4},
		{"paced", "198.18.0.1", "198.19.0.1", 5, []int{64}, false, 20_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := NewAFPacket().NewGenerator(load.Spec{
				Device: gen.Device, DstMAC: sink.MAC, Stream: 5, Sizes: c.sizes, CPUs: []int{0, 0},
				Flows: load.FlowSpace{Count: c.flows, Src: netip.MustParseAddr(c.src), Dst: netip.MustParseAddr(c.dst), Random: c.random, Elephant: c.elephant},
			}, gen.In)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if err := r.Reset(); err != nil {
				t.Fatal(err)
			}
			sent, err := g.Run(context.Background(), load.Offer{Rate: load.Rate{PPS: c.pps}, Limit: load.Limit{Packets: 5001}})
			if err != nil || sent.TxPackets != 5001 {
				t.Fatalf("sent %d of 5001: %v", sent.TxPackets, err)
			}
			got, err := r.Finish(context.Background(), 5*time.Second)
			if err != nil || got.Lost == nil {
				t.Fatalf("%+v, %v", got, err)
			}
			if got.RxPackets+*got.Lost != 5001 || got.RxPackets == 0 || got.Duplicated+got.Reordered+got.Foreign != 0 {
				t.Errorf("received %+v", got)
			}
			if *got.Lost == 0 && got.RxBytes != sent.TxBytes {
				t.Errorf("received %d bytes of %d", got.RxBytes, sent.TxBytes)
			}
		})
	}
}

// TestLossDuplicatesReordering sends frames by hand, so that loss, duplicates and reordering are known.
func TestLossDuplicatesReordering(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	r, err := NewAFPacket().NewReceiver(sink.Device, sink.In, load.Watch{Stream: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := wire.Look(gen.Device, gen.In)
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.Open(d, gen.In)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := load.NewFramer(load.Spec{
		SrcMAC: gen.MAC, DstMAC: sink.MAC, Stream: 5, Sizes: []int{64},
		Flows: load.FlowSpace{Count: 1, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	send := func(sequence uint32) {
		b := make([]byte, 60)
		f.Put(b, 0)
		f.Stamp(b, load.Stamp{Stream: 5, Run: 1, Sequence: sequence, Time: wire.Monotonic()})
		if err := s.Send(b); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []uint32{0, 1, 3, 2, 4, 4, 7, 8, 6, 7} { // 5 lost, 9 lost at the tail
		send(n)
	}
	if err := s.Send(make([]byte, 60)); err != nil { // foreign
		t.Fatal(err)
	}
	if err := wire.SendEnds(context.Background(), s.Send, f, load.Stamp{Stream: 5, Run: 1}, []wire.Worker{{Total: 10}}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Finish(context.Background(), 5*time.Second)
	if err != nil || got.Lost == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if got.RxPackets != 8 || *got.Lost != 2 || got.Duplicated != 2 || got.Reordered != 2 || got.Foreign != 1 || got.FlowsSeen != 1 {
		t.Errorf("received %+v, want 8, 2 lost, 2 duplicated, 2 reordered, 1 foreign", got)
	}
}

func TestRefusals(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	_, err := NewAFPacket().NewGenerator(load.Spec{
		Device: gen.Device, DstMAC: sink.MAC, Sizes: []int{9000},
		Flows: load.FlowSpace{Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")},
	}, gen.In)
	if !hint.IsUsage(err) || hint.Of(err) == "" {
		t.Errorf("frames larger than the MTU: %v, want a usage error with a hint", err)
	}
}

// TestFinishWaitsForTheReader: a reader that gets no CPU time must not look like a link on which nothing
// arrives.
func TestFinishWaitsForTheReader(t *testing.T) {
	spec := load.Spec{Sizes: []int{64}, SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6),
		Flows: load.FlowSpace{Count: 1, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}}
	f, err := load.NewFramer(spec)
	if err != nil {
		t.Fatal(err)
	}
	r := &ringReceiver{fd: -1}
	r.dropped = func() (uint32, error) { return 0, nil }
	count := func(frame []byte) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.account.Frame(frame, 0)
	}
	count(f.End(0, load.Stamp{Run: 1}, load.Ending{Workers: 1, Total: 1}))
	go func() {
		time.Sleep(60 * time.Millisecond) // three times the quiet period
		b := make([]byte, 60)
		f.Put(b, 0)
		f.Stamp(b, load.Stamp{Run: 1})
		count(b)
		r.empty.Store(wire.Monotonic())
	}()
	got, err := r.Finish(t.Context(), time.Minute)
	if err != nil || got.RxPackets != 1 || got.Lost == nil || *got.Lost != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
