package forward

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"linerate/internal/drop"
	"linerate/internal/lab"
	"linerate/internal/list"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// stream is the stream ID of a lab's traffic, or of the first of several ways;
// labs are isolated by namespaces.
const stream = 1

// patience is how long a receiver waits for the end of a stream.
const patience = 2 * time.Second

// ends is how often the end of a stream is sent. The queues of namespaces hold a
// millisecond's worth of frames, and are empty by then: the second is a precaution.
const ends = 2

// bypassTries is how often a trial tries to measure its block's chain without
// the DUT when other programs interfere.
const bypassTries = 3

// trial runs one slot: reset, warm-up, traffic, drain, gates. Errors are
// permanent, from the study or the testbed; a failure of this time only makes
// the trial invalid.
func (u *Setup) trial(ctx context.Context, slot study.Slot, by By) (study.Trial, error) {
	t := lab.Trial(slot, u.Part)
	variant, _ := u.Spec().Variant(slot.Variant)
	if why := u.Here().Why(variant); why != "" {
		return lab.Unavailable(t, why), nil
	}
	o := study.Observation{Load1: u.Machine.Load1()}
	applied, err := u.Bed.Reset(ctx, variant.Apply())
	var un *testbed.ErrUnavailable
	if errors.As(err, &un) {
		return lab.Unavailable(t, un.Error()), nil
	}
	if err != nil {
		return t, fmt.Errorf("set up the variant: %w", err)
	}
	o.Applied = applied
	if err := u.bypass(ctx, slot.Block, &o); err != nil {
		return t, err
	}
	failed, err := by.Measure(u, ctx, &o)
	if err != nil {
		return t, err
	}
	return u.Judge(t, u.Part, &o, failed), nil
}

// bypass measures the block's chain time without the DUT, unless the record has
// it. Mode overload does not need it.
func (u *Setup) bypass(ctx context.Context, block int, o *study.Observation) error {
	if u.Part.Mode != testbed.Cost || study.HasBypass(u.Block(block)) {
		return nil
	}
	gen, sink, err := u.Bed.Bypass()
	if err != nil {
		return fmt.Errorf("wire generator and receiver without a DUT: %w", err)
	}
	offer, err := study.OfferOf(u.Part, u.Part.Seconds/2)
	if err != nil {
		return err
	}
	c, err := u.Chain([]testbed.Way{{Generator: gen, Receiver: sink}}, 0)
	if err != nil {
		return err
	}
	defer c.Close()
	var b study.BypassRun
	for range bypassTries {
		run, err := c.Run(ctx, offer, u.Part.Warmup, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			break // the bypass gate reports that it is missing
		}
		b = study.BypassRun{Sent: run.Sent, Received: run.Received, Contention: run.Contention.Seconds()}
		if b.NS = study.BypassTime(u.Spec().Gates, b); b.NS > 0 {
			break
		}
		if err := c.Reset(); err != nil {
			return fmt.Errorf("measure without a DUT: %w", err)
		}
	}
	o.Bypass = &b
	return nil
}

// measure runs the trial's traffic through the DUT. failed is a failure of
// the traffic; err is a permanent error.
func (u *Setup) measure(ctx context.Context, o *study.Observation) (failed, err error) {
	offer, err := study.OfferOf(u.Part, u.Part.Seconds)
	if err != nil {
		return nil, err
	}
	dut := u.Bed.DUT()
	c, err := u.Chain(dut.Ways(), dut.Thread)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	again, err := u.Check(u.CPUs())
	if err != nil {
		return nil, err
	}
	if u.Part.Mode == testbed.Overload {
		// Frames still queued before a slow DUT must not be counted in the
		// trial.
		c.settle = u.Bed.Settle
	}
	var dead *dropWatch
	tell, err := telemetry(ctx, u.Bed, u.Spec().OnMachines(), o)
	if err != nil {
		return nil, err
	}
	ask, err := u.prober(dut)
	if err != nil {
		return nil, err
	}
	defer ask.close()
	asked := func() {}
	run, failed := c.Run(ctx, offer, u.Part.Warmup, func() error {
		if o.Before, err = dut.Counters(); err == nil {
			dead, err = watchDrops(dut.AllDrops)
		}
		asked = ask.during(ctx, offer.Limit.Duration)
		return err
	})
	asked()
	if err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	settled := u.Bed.Settle(ctx)
	if o.After, err = dut.Counters(); err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	if dead != nil { // else the traffic never began
		if o.Drops, err = dead.since(); err != nil {
			return nil, err
		}
	}
	if o.CPUs, err = again(); err != nil {
		return nil, err
	}
	tell()
	if err := ask.note(o); err != nil {
		return nil, err
	}
	o.Sent, o.Received, o.Contention = run.Sent, run.Received, run.Contention.Seconds()
	return errors.Join(failed, settled), nil
}

// CPUs returns the CPUs in use, without duplicates.
func (u *Setup) CPUs() (out []int) {
	c := u.Bed.Describe().CPUs
	for _, cpu := range []int{c.Generator, c.DUT, c.Receiver} {
		if cpu >= 0 {
			out = list.With(out, cpu)
		}
	}
	return out
}

// dropWatch counts frames dropped while traffic runs.
type dropWatch struct {
	read   func() (drop.Counters, error)
	before drop.Counters
}

// watchDrops takes the first reading.
func watchDrops(read func() (drop.Counters, error)) (*dropWatch, error) {
	before, err := read()
	if err != nil {
		return nil, fmt.Errorf("read where frames were dropped: %w", err)
	}
	return &dropWatch{read, before}, nil
}

// since returns the counts since the first reading; nil if drops are not counted.
func (w *dropWatch) since() (drop.Counters, error) {
	if w.before == nil {
		return nil, nil
	}
	after, err := w.read()
	if err != nil {
		return nil, fmt.Errorf("read where frames were dropped: %w", err)
	}
	return after.Since(w.before), nil
}

// into adds the counts since the first reading to an observation.
func (w *dropWatch) into(o *study.Observation) error {
	died, err := w.since()
	if died != nil { // else drops are not counted
		o.Drops = o.Drops.Plus(died)
	}
	return err
}

// telemetry starts watching the DUT's own counters, if it has any; tell ends
// it. A DUT that does not answer afterwards has no telemetry.
func telemetry(ctx context.Context, b testbed.Bed, machines bool, o *study.Observation) (tell func(), err error) {
	o.Machines = machines
	o.Uncounted = b.Describe().Kind == testbed.KindPorts
	bed, ok := b.(testbed.Telemeter)
	if !ok {
		return func() {}, nil
	}
	before, err := bed.Telemetry(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what the DUT says of itself: %w", err)
	}
	return func() {
		if after, err := bed.Telemetry(ctx); err == nil {
			o.DUT = after.Since(before)
			maps.DeleteFunc(o.DUT, func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) // sensors may report them; JSON cannot represent them
		}
	}, nil
}
