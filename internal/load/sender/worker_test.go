//go:build linux || freebsd

package sender

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// narrow is a device that often has room for a part of a batch only. It keeps the
// account of what it took.
type narrow struct {
	mu      sync.Mutex
	rng     *rand.Rand
	account load.Account
	flows   map[uint32]uint64
}

func (d *narrow) Send(frames [][]byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.rng.IntN(len(frames) + 1)
	for _, b := range frames[:n] {
		found, _ := load.FindStamp(b)
		if found.Kind == load.Data {
			d.flows[found.Flow]++
		}
		d.account.Frame(b, wire.Monotonic())
	}
	return n, nil
}

func (d *narrow) Close() error { return nil }

// TestElephantsShare: the first flow has its share of all frames, the others are
// sent as before, and every sequence is whole.
func TestElephantsShare(t *testing.T) {
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	const packets = 20_000
	for name, c := range map[string]struct {
		flows  int
		random bool
		share  float64
		cpus   []int
	}{
		"none": {10, false, 0, nil}, "in turn": {10, false, 0.25, nil}, "random": {10, true, 0.6, nil}, "of two": {2, false, 0.9, nil},
		"two workers": {10, false, 0.3, []int{0, 0}}, "all of one worker": {10, true, 0.5, []int{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &narrow{rng: rand.New(rand.NewPCG(1, 2)), flows: map[uint32]uint64{}}
			g, err := New(Config{Engine: "narrow", In: port.Here, Device: wire.Device{Name: "none", MTU: 1500}, Open: func() (Port, error) { return d, nil },
				Spec: load.Spec{SrcMAC: mac, DstMAC: mac, Sizes: []int{64}, CPUs: c.cpus, Seed: 5, Ends: 1, Flows: load.FlowSpace{Count: c.flows, Random: c.random, Elephant: c.share,
					Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			sent, err := g.Run(context.Background(), load.Offer{Limit: load.Limit{Packets: packets, Duration: 30 * time.Second}}, nil)
			if err != nil || sent.TxPackets != packets {
				t.Fatalf("%+v, %v", sent, err)
			}
			got := d.account.Received("narrow")
			if got.Lost == nil || *got.Lost != 0 || got.Duplicated+got.Reordered != 0 {
				t.Errorf("%+v", got)
			}
			want, others := c.share*packets, (1-c.share)*packets/float64(c.flows-1)
			if c.share == 0 {
				want, others = packets/float64(c.flows), packets/float64(c.flows)
			}
			if off := float64(d.flows[0]) - want; off < -2 || off > 2 {
				t.Errorf("the first flow sent %d of %d frames, want %g", d.flows[0], packets, want)
			}
			if n := float64(d.flows[uint32(c.flows-1)]); !c.random && len(c.cpus) == 0 && (n < others-2 || n > others+2) {
				t.Errorf("the last flow sent %g frames, want %g", n, others)
			}
		})
	}
}
