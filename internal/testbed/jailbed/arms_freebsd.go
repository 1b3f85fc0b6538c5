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
		p, rest, err := pathOf(w.Settings)
		if built := a.build(ctx, b, w.Bypass, p); built != nil {
			return nil, fmt.Errorf("build %s: %w", w.Name, built)
		}
		var applied testbed.Applied
		if a.dut != nil && err == nil {
			applied, err = apply(ctx, a.dut, rest)
			applied.Digest = digest(w.Settings)
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
func (a *armJail) build(ctx context.Context, b *Bed, bypass bool, p path) (err error) {
	if !bypass {
		a.dut, err = b.route(ctx, a.gen, a.sink, p)
		return err
	}
	if err := b.wire(ctx, a.gen, nil, a.sink, b.sink); err != nil {
		return err
	}
	return errors.Join(b.hush(ctx, b.gen, a.gen), b.hush(ctx, b.sink, a.sink))
}

// describe is the arm for whoever measures it.
func (a *armJail) describe(b *Bed, applied testbed.Applied, unavailable error) testbed.Arm {
	out := testbed.Arm{Applied: applied, Thread: b.DUTThread(), Unavailable: unavailable,
		Generator: port(a.gen, genPort, ingress), Receiver: port(a.sink, sinkPort, egress)}
	if a.dut != nil {
		out.Counters = a.dut.counters
	}
	return out
}

// Global has nothing to set: what is global to the kernel is not changed yet.
func (b *Bed) Global(_ context.Context, settings []setting.Setting) error {
	if len(settings) == 0 {
		return nil
	}
	return &testbed.ErrUnavailable{Setting: settings[0].String(), Reason: "it is global to the kernel, which no jail may change"}
}

// clear takes every DUT down: first its wires, which nothing may be left in
// when its network stack ends.
func (b *Bed) clear() error {
	var err error
	if b.dut != nil {
		err = errors.Join(b.destroy(b.gen, genPort.device), b.destroy(b.sink, sinkPort.device), b.remove(b.dut))
		b.dut = nil
	}
	for _, a := range b.arms {
		err = errors.Join(err, b.destroy(b.gen, a.gen.device))
		if a.dut != nil {
			err = errors.Join(err, b.destroy(b.sink, a.sink.device), b.remove(a.dut))
		}
	}
	b.arms = nil
	return err
}

// destroy ends a wire by one of its ends. One that is not there is none.
func (b *Bed) destroy(in *jail, device string) error {
	if in == nil {
		return nil
	}
	out, err := in.run(context.Background(), "/sbin/ifconfig", "-l")
	if err != nil || !listed(out, device) {
		return err
	}
	_, err = in.run(context.Background(), "/sbin/ifconfig", device, "destroy")
	return err
}
