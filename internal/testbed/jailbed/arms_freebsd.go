package jailbed

import (
	"cmp"
	"context"
	"errors"
	"os"

	"linerate/internal/knob"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// armJail is one of several DUTs.
type armJail struct {
	dut       *routers // nil for a bypass
	gen, sink end
}

// Raise replaces all DUTs by new ones.
func (b *Bed) Raise(ctx context.Context, wanted []testbed.Settings) ([]testbed.Arm, error) {
	if err := b.clear(); err != nil {
		return nil, err
	}
	return testbed.RaiseEach(ctx, wanted, func(i int, w testbed.Settings) (testbed.Applied, error) {
		a := &armJail{gen: arm(genPort, i+1), sink: arm(sinkPort, i+1)}
		return b.raise(ctx, a, w, nil) // nil, because host settings would affect all arms
	}, func(i int, applied testbed.Applied, unavailable error) testbed.Arm {
		return b.arms[i].describe(b, applied, unavailable)
	})
}

// raise connects a new DUT to the two outer jails, or these to each other, and applies a
// variant's settings. host applies those that are global to the kernel; it may be nil.
func (b *Bed) raise(ctx context.Context, a *armJail, w testbed.Settings, host *knob.HostSysctls) (applied testbed.Applied, err error) {
	b.arms = append(b.arms, a)
	if w.Bypass {
		return applied, b.bypass(ctx, a.gen, a.sink)
	}
	p, rest, unavailable := pathOf(w.Settings, loaded)
	if a.dut, err = b.route(ctx, a.gen, a.sink, p); err != nil || unavailable != nil {
		return applied, cmp.Or(err, unavailable)
	}
	first := a.dut.first()
	t := &knob.Target{Run: first.feed, Host: host, Devices: map[string]string{"ingress": ingress.Device, "egress": egress.Device},
		RouteSocket: func() (*os.File, error) { return b.routeSocket(first) }}
	applied, err = t.ApplyAll(ctx, rest)
	applied.Digest = setting.Digest(w.Settings)
	return applied, err
}

// describe returns the arm for measurements.
func (a *armJail) describe(b *Bed, applied testbed.Applied, unavailable error) testbed.Arm {
	out := testbed.Arm{Applied: applied, Thread: b.thread(), Unavailable: unavailable,
		Way: testbed.Way{Generator: portOn(a.gen, genPort, ingress), Receiver: portOn(a.sink, sinkPort, egress)}}
	if a.dut != nil {
		out.Counters = a.dut.counters
	}
	return out
}

// Global switches the host's settings, with the journal.
func (b *Bed) Global(_ context.Context, settings []setting.Setting) error {
	return b.journal.Switch(settings)
}

// clear restores the host's settings and removes every DUT: first its wires,
// because nothing may be left in a network stack when it ends. All wires of a
// side are removed with one command.
func (b *Bed) clear() error {
	if err := b.journal.Restore(); err != nil {
		return err
	}
	var gens, sinks [][]string
	for _, a := range b.arms {
		gens, sinks = append(gens, gone(a.gen.Device)), append(sinks, gone(a.sink.Device))
	}
	err := errors.Join(b.gen.all(context.Background(), gens), b.sink.all(context.Background(), sinks))
	for _, a := range b.arms {
		if a.dut != nil {
			err = errors.Join(err, b.remove(a.dut))
		}
	}
	b.arms = nil
	return err
}
