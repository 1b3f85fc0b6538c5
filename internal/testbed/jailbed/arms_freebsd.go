package jailbed

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// armJail is one of several DUTs.
type armJail struct {
	dut       *routers // nil: a bypass
	gen, sink end
}

// Raise replaces all DUTs by new ones.
func (b *Bed) Raise(ctx context.Context, wanted []testbed.Settings) ([]testbed.Arm, error) {
	if err := b.clear(); err != nil {
		return nil, err
	}
	out := make([]testbed.Arm, len(wanted))
	for i, w := range wanted {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a := &armJail{gen: arm(genPort, i+1), sink: arm(sinkPort, i+1)}
		b.arms = append(b.arms, a)
		p, rest, err := pathOf(w.Settings, loaded)
		if built := a.build(ctx, b, w.Bypass, p); built != nil {
			return nil, fmt.Errorf("build %s: %w", w.Name, built)
		}
		var applied testbed.Applied
		if a.dut != nil && err == nil {
			applied, err = b.apply(ctx, a.dut, rest, nil) // a host's would be every other arm's too
			applied.Digest = setting.Digest(w.Settings)
		}
		var un *testbed.ErrUnavailable
		if err != nil && !errors.As(err, &un) {
			return nil, fmt.Errorf("set up %s: %w", w.Name, err)
		}
		out[i] = a.describe(b, applied, err)
	}
	return out, nil
}

// build wires a fresh DUT between the two outer jails, or these to each other.
func (a *armJail) build(ctx context.Context, b *Bed, bypass bool, p testbed.HopPath) (err error) {
	if !bypass {
		a.dut, err = b.route(ctx, a.gen, a.sink, p)
		return err
	}
	return b.bypass(ctx, a.gen, a.sink)
}

// describe is the arm for what measures it.
func (a *armJail) describe(b *Bed, applied testbed.Applied, unavailable error) testbed.Arm {
	out := testbed.Arm{Applied: applied, Thread: b.DUTThread(), Unavailable: unavailable,
		Generator: portOn(a.gen, genPort, ingress), Receiver: portOn(a.sink, sinkPort, egress)}
	if a.dut != nil {
		out.Counters = a.dut.counters
	}
	return out
}

// Global switches the host's settings, journalled as ever.
func (b *Bed) Global(_ context.Context, settings []setting.Setting) error {
	return b.journal.Switch(settings)
}

// clear restores the host's settings and takes every DUT down: first its wires,
// which nothing may be left in when its network stack ends. Wires go in one
// stroke a side.
func (b *Bed) clear() error {
	if err := b.journal.Restore(); err != nil {
		return err
	}
	var gens, sinks [][]string
	var duts []*routers
	if b.dut != nil {
		gens, sinks, duts = append(gens, gone(genPort.Device)), append(sinks, gone(sinkPort.Device)), append(duts, b.dut)
	}
	for _, a := range b.arms {
		gens, sinks = append(gens, gone(a.gen.Device)), append(sinks, gone(a.sink.Device))
		if a.dut != nil {
			duts = append(duts, a.dut)
		}
	}
	err := errors.Join(b.gen.all(context.Background(), gens), b.sink.all(context.Background(), sinks))
	for _, d := range duts {
		err = errors.Join(err, b.remove(d))
	}
	b.dut, b.arms = nil, nil
	return err
}
