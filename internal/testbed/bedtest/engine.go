package bedtest

import (
	"context"
	"strings"
	"time"

	"linerate/internal/drop"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/profile"
	"linerate/internal/testbed"
)

// Name returns the name of the simulated engine.
func (s *Simulated) Name() string { return "simulated" }

// Available always succeeds.
func (s *Simulated) Available() error { return nil }

// NewGenerator returns a generator for the simulated chain.
func (s *Simulated) NewGenerator(spec load.Spec, in port.Place) (load.Generator, error) {
	return &generator{sim: s, spec: spec, in: in}, nil
}

// NewReceiver returns a receiver for the simulated chain.
func (s *Simulated) NewReceiver(device string, _ port.Place, _ load.Watch) (load.Receiver, error) {
	return &receiver{s, device}, nil
}

// behind returns the device at which frames from a device arrive.
func behind(device string) string {
	if wire, ok := strings.CutPrefix(device, "sink"); ok {
		return "gen" + wire
	}
	return "sink" + strings.TrimPrefix(device, "gen")
}

type generator struct {
	sim  *Simulated
	spec load.Spec
	in   port.Place
}

func (g *generator) Close() error { return nil }

// Probe always succeeds.
func (g *generator) Probe(context.Context) error { return nil }

// Run advances the simulation's clock by the offer's duration.
func (g *generator) Run(ctx context.Context, o load.Offer) (load.Sent, error) {
	if err := ctx.Err(); err != nil {
		return load.Sent{}, err
	}
	var sent load.Sent
	err := g.in(func() error {
		sent = g.sim.pass(g.spec, o)
		return nil
	})
	return sent, err
}

// pass simulates sending traffic for a while.
func (s *Simulated) pass(spec load.Spec, o load.Offer) load.Sent {
	s.passing.Lock()
	defer s.passing.Unlock()
	cost, arm := s.arms[spec.Device]
	dut := arm || spec.Device == "gen0" || spec.Device == "sink0"
	if !arm {
		cost = s.cost
	}
	if s.Wander != nil {
		cost *= s.Wander(s.clock)
	}
	each := BypassNS
	if dut {
		each += cost
	}
	capacity := 1e9 / each
	offered := capacity
	if s.Mode == testbed.Overload {
		capacity = 1e9 / (cost + BypassNS/2)
		headroom := 6.0
		if s.fault.GeneratorX > 0 {
			headroom = s.fault.GeneratorX
		}
		offered = headroom * capacity
	}
	target := o.Rate.FramesPerSecond(spec.Sizes)
	if target > 0 {
		offered = target
	}
	if dut {
		capacity *= 1 - s.fault.Contention
		if s.Mode == testbed.Cost {
			offered = capacity
		}
	}
	seconds := o.Limit.Duration.Seconds()
	tx := uint64(offered * seconds)
	queued := uint64(0)
	if n := o.Limit.Packets; n > 0 {
		// A burst: what the DUT has not yet forwarded waits in its ring.
		tx, seconds, queued = n, float64(n)/offered, RingFrames
	}
	s.clock += time.Duration(seconds * float64(time.Second))
	rx := min(tx, uint64(capacity*seconds)+queued)
	unsent := uint64(0)
	if target > 0 && o.Limit.Packets == 0 {
		unsent = uint64(s.late(spec.Device) * float64(tx))
		tx, rx = tx-unsent, min(rx, tx-unsent)
	}
	s.last = load.Sent{Engine: "simulated", TxPackets: tx, TxBytes: 64 * tx, Seconds: seconds, TxPPS: offered, TargetPPS: target, Unsent: unsent}
	if s.got == nil {
		s.got = map[string]load.Received{}
	}
	s.got[behind(spec.Device)] = s.account(tx, rx, seconds, cost)
	if dut {
		s.passed++
		s.dropped[spec.Device] += tx - rx
		s.count(tx, rx)
	}
	return s.last
}

func (s *Simulated) late(device string) float64 {
	if s.Late == nil {
		return 0
	}
	if s.paced == nil {
		s.paced = map[string]int{}
	}
	s.paced[device]++
	return s.Late(device, s.paced[device]-1)
}

func (s *Simulated) account(tx, rx uint64, seconds, cost float64) load.Received {
	lost := tx - rx
	if s.fault.NothingRx {
		return load.Received{}
	}
	delay := uint64(cost)
	if lost > 0 {
		delay = uint64(cost * RingFrames)
	}
	got := load.Received{RxPackets: rx, RxBytes: 64 * rx, Seconds: seconds, RxPPS: float64(rx) / seconds, Lost: &lost, FlowsSeen: 1,
		Latency: &load.Latency{Min: delay / 2, P50: delay, P90: delay, P99: delay * 2, P999: delay * 3, Max: delay * 4}}
	if s.fault.NoEnd {
		got.Lost = nil
	}
	return got
}

func (s *Simulated) count(tx, rx uint64) {
	s.counters.Received += tx
	s.counters.Forwarded += rx
	s.counters.Dropped += tx - rx
	if s.ran && s.fault.Backwards {
		s.counters.Forwarded = 0
	}
	s.ran = true
}

type receiver struct {
	sim    *Simulated
	device string
}

func (r *receiver) Snapshot() (load.Received, error) { return r.sim.got[r.device], nil }
func (r *receiver) Finish(ctx context.Context, _ time.Duration) (load.Received, error) {
	return r.sim.got[r.device], ctx.Err()
}
func (r *receiver) Reset() error { delete(r.sim.got, r.device); return nil }
func (r *receiver) Close() error { return nil }

// Machine of the simulation.

// Now returns the simulation's time.
func (s *Simulated) Now() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(s.clock)
}

// Spin takes a millisecond, and longer after traffic if the trial drifts.
func (s *Simulated) Spin(int) (float64, error) {
	s.clock += time.Millisecond
	if s.ran {
		return 1e6 * (1 + s.fault.Drift), nil
	}
	return 1e6, nil
}

// Stolen returns 0.
func (s *Simulated) Stolen(int) (time.Duration, error) { return 0, nil }

// Load1 returns 0.
func (s *Simulated) Load1() float64 { return 0 }

// Meter returns the share of the last run that a fault gave to other programs.
func (s *Simulated) Meter(in port.Place, _ int) (port.Place, func() time.Duration) {
	return in, func() time.Duration {
		share := s.fault.Contention
		if s.Waits != nil {
			share += s.Waits(s.passed)
		}
		return time.Duration(share * s.last.Seconds * float64(time.Second))
	}
}

// Watch does the same for the DUT.
func (s *Simulated) Watch(int, int) func() time.Duration {
	_, contention := s.Meter(port.Here, 0)
	return contention
}

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
