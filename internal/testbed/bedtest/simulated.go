package bedtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"linerate/internal/drop"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// Costs of the simulated chain, in ns per packet.
const (
	BypassNS   = 150.0 // generator and receiver
	ForwardNS  = 700.0 // plain forwarding
	HookNS     = 12.0  // any ruleset
	RuleNS     = 2.7   // one linear rule
	SetNS      = 20.0  // one set lookup
	StatefulNS = 180.0 // connection tracking
	// RingFrames is the length of the queue before an overloaded DUT.
	RingFrames = 256
)

// Fault disturbs one trial.
type Fault struct {
	Drift      float64 // relative slowdown of the CPU, seen by the spin after it
	Contention float64 // share of the time that other programs used
	NoEnd      bool    // the end-of-stream frames are lost
	NothingRx  bool    // nothing arrives
	Backwards  bool    // a counter of the DUT goes backwards
	GeneratorX float64 // the generator's rate relative to the DUT's, instead of 6
}

// Simulated is a testbed, a traffic engine and a machine in one. Its clock
// advances only when traffic runs or a spin is timed.
type Simulated struct {
	Mode  testbed.Mode
	Noise float64 // relative scatter of the DUT's cost between trials
	Seed  uint64
	// Faults returns the fault of the n-th reset, from 0; nil: none.
	Faults func(n int) Fault
	// Wander is the factor by which the machine's speed changes every cost at
	// a time; nil: always 1.
	Wander func(clock time.Duration) float64
	// Late returns the share of the due frames that the generator on a device
	// does not send in its n-th paced run, from 0; nil: none.
	Late func(device string, n int) float64
	// Waits returns the share of the n-th run of traffic through a DUT, from 1, in
	// which its thread waits for its CPU, in addition to Fault.Contention; nil: none.
	Waits func(n int) float64
	// Backlogged is set if DUTs drop frames in the CPU's backlog, which
	// counts for the whole machine, instead of their rings.
	Backlogged bool
	// Refuse returns why a setting is unavailable, or "".
	Refuse func(setting.Setting) string
	// OneWay says why traffic cannot go both ways; "" if it can.
	OneWay string

	passing  sync.Mutex // two generators may run at once
	clock    time.Duration
	resets   int
	closed   bool
	cost     float64
	arms     map[string]float64 // costs of several DUTs, by the generator's device
	fault    Fault
	ran      bool // traffic has passed the DUT since the reset
	counters testbed.Counters
	dropped  map[string]uint64 // before reaching a DUT, by the generator's device
	passed   int               // runs through a DUT
	paced    map[string]int    // runs at a given rate, by the generator's device
	last     load.Sent
	got      map[string]load.Received // by the receiver's device
}

var (
	_ testbed.Duplex = (*Simulated)(nil)
	_ testbed.Multi  = (*Simulated)(nil)
	_ load.Engine    = (*Simulated)(nil)
)

// Describe states that this is not a real testbed.
func (s *Simulated) Describe() testbed.Description {
	cpus := testbed.CPUs{Generator: 0, DUT: 0, Receiver: 0}
	if s.Mode == testbed.Overload {
		cpus = testbed.CPUs{Generator: 0, DUT: 1, Receiver: 1}
	}
	return testbed.Description{Kind: "simulated", Label: "simulated, not measured", Mode: s.Mode, Privileged: true, CPUs: cpus,
		Notes: []string{"a simulation for tests"}}
}

// DUT returns the simulated DUT, behind the first device.
func (s *Simulated) DUT() testbed.Arm { return s.arm("gen0") }

// arm returns the DUT behind a device. All share their counters.
func (s *Simulated) arm(device string) testbed.Arm {
	return testbed.Arm{
		Way:      testbed.Way{Generator: portOn(device, 1, 2, "198.18.0.1/16", "2001:2::1/64"), Receiver: portOn(behind(device), 4, 3, "198.19.0.1/16", "2001:2:0:1::1/64")},
		Inside:   portOn("dut0", 2, 1, "198.18.255.254/16", "2001:2::ffff:fffe/64"),
		Counters: func() (testbed.Counters, error) { return s.counters, nil },
		Drops:    func() (drop.Counters, error) { return s.ownDrops(device), nil },
		Machine:  func() (drop.Counters, error) { return s.machineDrops(), nil },
	}
}

// Bypass returns the chain without the DUT.
func (s *Simulated) Bypass() (generator, receiver port.Port, err error) {
	return portOn("gen1", 5, 6, "", ""), portOn("sink1", 6, 5, "", ""), nil
}

func portOn(device string, own, peer byte, v4, v6 string) port.Port {
	p := port.Port{In: port.Here, Device: device,
		MAC: net.HardwareAddr{2, 0, 0, 0, 0, own}, Peer: net.HardwareAddr{2, 0, 0, 0, 0, peer}}
	if v4 != "" {
		p.IPv4, p.IPv6 = netip.MustParsePrefix(v4), netip.MustParsePrefix(v6)
	}
	return p
}

// Reset applies settings to the DUT, with their costs.
func (s *Simulated) Reset(ctx context.Context, settings []setting.Setting) (testbed.Applied, error) {
	if err := ctx.Err(); err != nil {
		return testbed.Applied{}, err
	}
	s.fault, s.arms = Fault{}, nil
	if s.Faults != nil {
		s.fault = s.Faults(s.resets)
	}
	rng := s.renew()
	if err := s.refused(settings); err != nil {
		return testbed.Applied{}, err
	}
	s.cost = costOf(settings) * math.Exp(s.Noise*rng.NormFloat64())
	return applied(settings), nil
}

// renew counts a reset and returns its random generator.
func (s *Simulated) renew() *rand.Rand {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(s.resets)))
	s.resets++
	s.clock += 20 * time.Millisecond
	s.ran, s.counters, s.dropped = false, testbed.Counters{}, map[string]uint64{}
	return rng
}

func (s *Simulated) refused(settings []setting.Setting) error {
	for _, set := range settings {
		if s.Refuse == nil {
			break
		}
		if why := s.Refuse(set); why != "" {
			return testbed.Unavailable(set, "%s", why)
		}
	}
	return nil
}

func applied(settings []setting.Setting) testbed.Applied {
	return testbed.Applied{Seconds: 0.02, Digest: setting.Digest(settings)}
}

// Raise creates several DUTs, each with its own cost.
func (s *Simulated) Raise(ctx context.Context, wanted []testbed.Settings) ([]testbed.Arm, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.fault, s.arms = Fault{}, map[string]float64{}
	if s.Faults != nil {
		s.fault = s.Faults(s.resets)
	}
	rng := s.renew()
	out := make([]testbed.Arm, len(wanted))
	for i, w := range wanted {
		device := fmt.Sprintf("gen0-%d", i+1)
		out[i] = s.arm(device)
		out[i].Applied, out[i].Unavailable = applied(w.Settings), s.refused(w.Settings)
		s.arms[device] = costOf(w.Settings) * math.Exp(s.Noise*rng.NormFloat64())
		if w.Bypass {
			s.arms[device] = 0
		}
		s.arms[behind(device)] = s.arms[device]
	}
	return out, nil
}

// BothWays refuses with the reason in OneWay.
func (s *Simulated) BothWays(on bool) error {
	if on && s.OneWay != "" {
		return &testbed.ErrUnavailable{Setting: "directions: both", Reason: s.OneWay}
	}
	return nil
}

// Global does nothing.
func (s *Simulated) Global(ctx context.Context, _ []setting.Setting) error { return ctx.Err() }

func costOf(settings []setting.Setting) float64 {
	ns := ForwardNS
	for _, set := range settings {
		if set.Rules == nil {
			continue
		}
		ns += HookNS + RuleNS*float64(set.Rules.Linear)
		if set.Rules.SetElements > 0 {
			ns += SetNS
		}
		if set.Rules.Stateful {
			ns += StatefulNS
		}
	}
	return ns
}

// Settle returns immediately.
func (s *Simulated) Settle(ctx context.Context) error { return ctx.Err() }

// Close ends the simulation; Closed reports it.
func (s *Simulated) Close() error { s.closed = true; return nil }

// Closed reports whether Close was called.
func (s *Simulated) Closed() bool { return s.closed }
