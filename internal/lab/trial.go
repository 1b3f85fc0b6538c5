package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/study/search"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedfile"
)

// stream is the id of a lab's traffic, and the first one's where it takes several
// ways; namespaces keep labs apart.
const stream = 1

// patience is how long a receiver waits for the end of a stream.
const patience = 2 * time.Second

// ends is how often the end of a stream is told. The queues of namespaces hold a
// millisecond's worth of frames, and are empty by then: the second is for luck.
const ends = 2

// bypassTries is how often a trial tries to measure its block's chain without
// DUT when other programs are in the way.
const bypassTries = 3

// trial runs one slot: reset, warm-up, traffic, drain, gates. Errors are the
// study's or the testbed's; what merely went wrong this time makes the trial
// invalid instead.
func (r *Session) trial(ctx context.Context, slot study.Slot, part study.Part) (study.Trial, error) {
	t := study.Trial{Part: part.Name, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: part.Mode,
		Retry: slot.Retry, Reasons: []study.Refusal{}, Metrics: map[string]float64{}}
	variant, _ := r.task.Spec.Variant(slot.Variant)
	if why := r.here().Why(variant); why != "" {
		return unavailable(t, why), nil
	}
	o := study.Observation{Load1: r.Machine.Load1()}
	applied, err := r.bed.Reset(ctx, variant.Apply())
	var un *testbed.ErrUnavailable
	if errors.As(err, &un) {
		return unavailable(t, un.Error()), nil
	}
	if err != nil {
		return t, fmt.Errorf("set up the variant: %w", err)
	}
	o.Applied = applied
	if err := r.bypass(ctx, part, slot.Block, &o); err != nil {
		return t, err
	}
	measure := r.measure
	switch {
	case search.Of(part) != nil:
		measure = r.search
	case part.Flood != "":
		measure = r.flood
	}
	failed, err := measure(ctx, part, &o)
	if err != nil {
		return t, err
	}
	t.Observed = &o
	t.Metrics, t.Reasons = study.Judge(part, r.task.Spec.Gates, o, r.block(slot.Block)...)
	if failed != nil {
		t.Reasons = append([]study.Refusal{study.Failed(failed)}, t.Reasons...)
	}
	t.Valid = len(t.Reasons) == 0
	if shares, can := r.bed.(testbed.Sharer); can && !t.Valid {
		shares.Renew()
	}
	return t, nil
}

// here tells which variants the testbed that is up can be asked for.
func (r *Session) here() study.Availability {
	kind := r.out.Testbeds[string(r.mode)].Kind
	a := study.Availability{Place: "and testbed " + kind, System: testbed.SystemOf(kind)}
	if !r.AllowHost {
		a.NoLeave = " (scope: host), and settings of the host are not allowed in this run"
	}
	return a
}

func unavailable(t study.Trial, why string) study.Trial {
	t.Unavailable = why
	t.Reasons = []study.Refusal{{Gate: "unavailable", Text: why}}
	return t
}

// block are the trials of a block so far.
func (r *Session) block(n int) (of []study.Trial) {
	for _, t := range r.task.Done {
		if t.Block == n {
			of = append(of, t)
		}
	}
	return of
}

// bypass measures the block's chain time without DUT, unless the record has it.
// Mode overload needs none.
func (r *Session) bypass(ctx context.Context, part study.Part, block int, o *study.Observation) error {
	if part.Mode != testbed.Cost {
		return nil
	}
	if forward.HasBypass(r.block(block)) {
		return nil
	}
	gen, sink, err := r.bed.Bypass()
	if err != nil {
		return fmt.Errorf("wire generator and receiver without a DUT: %w", err)
	}
	offer, err := forward.Offer(part, part.Seconds/2)
	if err != nil {
		return err
	}
	c, err := r.chain([]testbed.Way{{Generator: gen, Receiver: sink, Share: 1}}, part, 0)
	if err != nil {
		return err
	}
	defer c.close()
	var b forward.BypassRun
	for range bypassTries {
		run, err := c.run(ctx, offer, part.Warmup, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			break // the bypass gate will say that it is missing
		}
		b = forward.BypassRun{Sent: run.sent, Received: run.received, Contention: run.contention.Seconds()}
		if b.NS = forward.BypassTime(r.task.Spec.Gates, b); b.NS > 0 {
			break
		}
		if err := c.rx.Reset(); err != nil {
			return fmt.Errorf("measure without a DUT: %w", err)
		}
	}
	forward.Note(o).Bypass = &b
	return nil
}

// measure runs the trial's traffic through the DUT. failed is what went wrong
// with the traffic; err is what can never go right.
func (r *Session) measure(ctx context.Context, part study.Part, o *study.Observation) (failed, err error) {
	offer, err := forward.Offer(part, part.Seconds)
	if err != nil {
		return nil, err
	}
	c, err := r.chain(testbed.WaysOf(r.bed), part, r.bed.DUTThread())
	if err != nil {
		return nil, err
	}
	defer c.close()
	cpus := r.bed.Describe().CPUs
	watched := distinct(cpus)
	before, err := r.check(watched)
	if err != nil {
		return nil, err
	}
	if part.Mode == testbed.Overload {
		// What is still queued before a slow DUT must not be counted as
		// the trial's own.
		c.settle = r.bed.Settle
	}
	var dead *dropWatch
	tell, err := r.telemetry(ctx, o)
	if err != nil {
		return nil, err
	}
	ask, err := r.prober(part, r.bed.Generator(), dutOf(r.bed))
	if err != nil {
		return nil, err
	}
	defer ask.close()
	asked := func() {}
	run, failed := c.run(ctx, offer, part.Warmup, func() error {
		if o.Before, err = r.bed.Counters(); err == nil {
			dead, err = watchDrops(dropsOf(r.bed))
		}
		asked = ask.during(ctx, offer.Limit.Duration)
		return err
	})
	asked()
	if err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	settled := r.bed.Settle(ctx)
	if o.After, err = r.bed.Counters(); err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	if dead != nil { // else the traffic never began
		if o.Drops, err = dead.since(); err != nil {
			return nil, err
		}
	}
	after, err := r.check(watched)
	if err != nil {
		return nil, err
	}
	tell()
	if err := ask.note(o); err != nil {
		return nil, err
	}
	o.CPUs = compare(before, after)
	o.Sent, o.Received, o.Contention = run.sent, run.received, run.contention.Seconds()
	return errors.Join(failed, settled), nil
}

// telemetry begins to watch what the DUT's own counters say, where it has some
// to read; tell ends it. A DUT that will not tell afterwards has no telemetry.
func (r *Session) telemetry(ctx context.Context, o *study.Observation) (tell func(), err error) {
	o.Machines = r.task.Spec.OnMachines()
	o.Uncounted = r.bed.Describe().Kind == bedfile.KindPorts
	bed, ok := r.bed.(testbed.Telemeter)
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
			maps.DeleteFunc(o.DUT, func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) // a sensor may say so; JSON cannot
		}
	}, nil
}

// cpuState is one look at a CPU.
type cpuState struct {
	cpu    int
	spin   float64
	stolen time.Duration
	at     time.Time
}

// check times a spin on each CPU and reads what was stolen from it.
func (r *Session) check(cpus []int) ([]cpuState, error) {
	var out []cpuState
	for _, cpu := range cpus {
		spin, err := r.Machine.Spin(cpu)
		if err != nil {
			return nil, fmt.Errorf("calibrate CPU %d: %w", cpu, err)
		}
		stolen, err := r.Machine.Stolen(cpu)
		if err != nil {
			return nil, fmt.Errorf("read the stolen time of CPU %d: %w", cpu, err)
		}
		out = append(out, cpuState{cpu, spin, stolen, r.Machine.Now()})
	}
	return out, nil
}

func compare(before, after []cpuState) []study.CPUCheck {
	out := make([]study.CPUCheck, len(before))
	for i, b := range before {
		a := after[i]
		out[i] = study.CPUCheck{CPU: b.cpu, SpinBefore: b.spin, SpinAfter: a.spin}
		if d := a.at.Sub(b.at); d > 0 {
			out[i].Steal = float64(a.stolen-b.stolen) / float64(d)
		}
	}
	return out
}

// distinct lists the CPUs in use, each once.
func distinct(c testbed.CPUs) []int {
	var out []int
	for _, cpu := range []int{c.Generator, c.DUT, c.Receiver} {
		seen := false
		for _, o := range out {
			seen = seen || o == cpu
		}
		if cpu >= 0 && !seen {
			out = append(out, cpu)
		}
	}
	return out
}
