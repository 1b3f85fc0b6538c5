package bedtest

import (
	"context"

	"linerate/internal/drop"
	"linerate/internal/port"
	"linerate/internal/profile"
	"linerate/internal/study"
)

// CyclesPerNS is the simulated CPU's clock.
const CyclesPerNS = 3.0

// Profile says where the simulated time goes: to the chain, to forwarding, and
// to rules.
func (s *Simulated) Profile(ctx context.Context, _ []int) (end func() (*profile.Profile, error), err error) {
	return func() (*profile.Profile, error) {
		b := profile.NewBuilder("simulated-clock", "nanoseconds", "simulation")
		chain := []profile.Frame{{Name: "net_rx_action", Module: "kernel"}}
		for _, f := range []struct {
			name string
			ns   float64
		}{{"veth_xmit", BypassNS}, {"ip_forward", ForwardNS}, {"nft_do_chain", s.cost - ForwardNS}} {
			if err := b.Add(append(chain, profile.Frame{Name: f.name, Module: "kernel"}), int64(max(0, 1000*f.ns))); err != nil {
				return nil, err
			}
		}
		return b.Profile(), ctx.Err()
	}, nil
}

// Count counts cycles, and has no cache.
func (s *Simulated) Count([]int) (end func() ([]study.PerPacket, []study.Missing, error), err error) {
	return func() ([]study.PerPacket, []study.Missing, error) {
		cycles := CyclesPerNS * (BypassNS + s.cost) * float64(s.got["sink0"].RxPackets)
		return []study.PerPacket{{Event: "cycles", Count: cycles}}, []study.Missing{{What: "cache misses", Why: "a simulation has no cache"}}, nil
	}, nil
}

// Reasons has none: nothing dies in the simulated DUT but in its ring.
func (s *Simulated) Reasons(port.Place) (end func() (drop.Counters, error), err error) {
	return func() (drop.Counters, error) { return drop.Counters{}, nil }, nil
}

// DUT is the simulated DUT's ingress.
func (s *Simulated) DUT() port.Port {
	return portOn("dut0", 2, 1, "198.18.255.254/16", "2001:2::ffff:fffe/64")
}

// Drops counts what the simulated DUT had no room for.
func (s *Simulated) Drops() (drop.Counters, error) {
	return s.ownDrops("gen0").Plus(s.machineDrops()), nil
}

// ownDrops are those in the ring before the DUT, machineDrops those in the
// machine's backlog.
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
