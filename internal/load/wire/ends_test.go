package wire

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"linerate/internal/load"
)

// TestEndsAsOftenAsAsked: the number of repeated endings is as requested; a lab with short queues uses few.
func TestEndsAsOftenAsAsked(t *testing.T) {
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	for asked, want := range map[int]int{0: endRepeats, 1: 1, 2: 2} {
		f, err := load.NewFramer(load.Spec{SrcMAC: mac, DstMAC: mac, Sizes: []int{64}, Ends: asked,
			Flows: load.FlowSpace{Count: 1, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		send := func([]byte) error { n++; return nil }
		if err := SendEnds(context.Background(), send, f, load.Stamp{}, []Worker{{Total: 1}}); err != nil || n != want {
			t.Errorf("%d asked: %d sent, %v", asked, n, err)
		}
	}
}
