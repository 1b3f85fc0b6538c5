package bedtest

import (
	"context"

	"linerate/internal/drop"
	"linerate/internal/profile"
)

// Profile returns where the simulated time goes: to the chain, to forwarding,
// and to rules.
func (s *Simulated) Profile(ctx context.Context, _ []int) (end func() (*profile.Profile, error), err error) {
	return func() (*profile.Profile, error) {
		b := profile.NewBuilder("simulated-clock", "nanoseconds")
		chain := []profile.Frame{{Name: "net_rx_action", Module: "kernel"}}
		for _, f := range []struct {
			name string
			ns   float64
		}{{"veth_xmit", BypassNS}, {"ip_forward", ForwardNS}, {"nft_do_chain", s.cost - ForwardNS}} {
			b.Add(append(chain, profile.Frame{Name: f.name, Module: "kernel"}), int64(max(0, 1000*f.ns)))
		}
		return b.Profile(), ctx.Err()
	}, nil
}

// ownDrops returns the drops in the ring before the DUT, machineDrops those
// in the machine's backlog.
func (s *Simulated) ownDrops(device string) drop.Counters {
	if s.Backlogged {
		return drop.Counters{}
	}
	return drop.Counters{"generator.output_drops": s.dropped[device]}
}

func (s *Simulated) machineDrops() drop.Counters {
	c := drop.Counters{}
	if s.Backlogged {
		for _, n := range s.dropped {
			c["softnet.dropped"] += n
		}
	}
	return c
}
