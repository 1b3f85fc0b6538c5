package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Lab is what a study runs on. All fields but AllowHost are needed.
type Lab struct {
	// Up brings up a testbed in a mode; the lab closes it.
	Up      func(ctx context.Context, mode testbed.Mode) (testbed.Bed, error)
	Engine  load.Engine
	Machine Machine
	// Sites opens the testbed of servers, and Service starts them; studies of
	// packets need neither.
	Sites   func(ctx context.Context) (testbed.Sites, error)
	Service Service
	// AllowHost lets variants use settings that are global to the kernel.
	AllowHost bool
	// Keep puts a file of raw material beside the trials; nil forgets it.
	Keep func(name string, data []byte) error
	// Instruments look into variants of a study that wants it; nil: none do.
	Instruments Instruments
	// Manager asks DUTs whether they are still usable; nil: nobody does.
	Manager Manager
	// Looked takes what they saw of a variant; nil forgets it.
	Looked func(study.Telemetry) error
}

// Machine is the computer under the testbed, watched while it measures.
type Machine interface {
	Now() time.Time
	// Spin times a fixed piece of work on a CPU, in ns; −1 is any CPU.
	Spin(cpu int) (float64, error)
	// Stolen is the time the hypervisor took from a CPU since boot.
	Stolen(cpu int) (time.Duration, error)
	// Load1 is the load average over one minute.
	Load1() float64
	// Meter returns in as a place whose threads are watched, and a function
	// that tells how long they could have run, since it was last called,
	// while the CPU worked for other programs.
	Meter(in testbed.Place, cpu int) (watched testbed.Place, contention func() time.Duration)
	// Watch is the same for a thread that runs already.
	Watch(thread, cpu int) (contention func() time.Duration)
}

// Progress tells how far a study is.
type Progress struct {
	Slot        study.Slot
	Part        study.Part
	Done, Total int           // trials, retries not counted
	Left        time.Duration // estimated
	// Trial is the one that just ended; nil when one begins.
	Trial *study.Trial
}

// Task is a study to be run: what, in which order, after which trials.
type Task struct {
	Spec study.Spec
	Seed uint64
	Done []study.Trial
	// Telemetry is what instruments saw before.
	Telemetry []study.Telemetry
}

// Outcome is what a run leaves beside its trials.
type Outcome struct {
	// Testbeds describes each mode's testbed; Unavailable says why a mode
	// could not be had.
	Testbeds    map[string]testbed.Description
	Unavailable map[string]string
}

// maxFailures in a row end a study: the testbed is broken, not unlucky.
const maxFailures = 3

// run is one run of a task.
type run struct {
	*Lab
	task     Task
	sink     func(study.Trial) error
	progress func(Progress)
	bed      testbed.Bed
	sites    testbed.Sites // in mode serve, instead of bed
	mode     testbed.Mode
	out      Outcome
	pace     pace
	failures int
	slicer   load.Slicer // of the part named slicing, or nil
	slicing  string
}

// Run runs the slots that the task has left and gives every trial to sink
// when it ends. A sink's error, an impossible setting or a broken testbed
// ends the run; so does ctx, whose unfinished trial is dropped. The outcome
// is valid even beside an error.
func (l *Lab) Run(ctx context.Context, p Task, sink func(study.Trial) error, progress func(Progress)) (Outcome, error) {
	r := &run{Lab: l, task: p, sink: sink, progress: progress, pace: pace{}}
	r.out = Outcome{Testbeds: map[string]testbed.Description{}, Unavailable: map[string]string{}}
	err := errors.Join(r.everything(ctx), r.closeSlicer())
	return r.out, errors.Join(err, r.leave())
}

// everything is the trials, and then the looks inside.
func (r *run) everything(ctx context.Context) error {
	if err := r.all(ctx); err != nil {
		return err
	}
	return r.inside(ctx)
}

func (r *run) all(ctx context.Context) error {
	for {
		slot, ok := study.Next(r.task.Spec, r.task.Seed, r.task.Done, r.skip)
		if !ok {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		part, _ := r.task.Spec.Part(slot.Part)
		if err := r.enter(ctx, part.Mode); err != nil {
			return err
		}
		if err := r.direct(part); err != nil {
			return err
		}
		if r.skip(part) {
			continue
		}
		part, ok = r.task.Spec.Resolve(part, r.task.Done)
		if !ok {
			return hint.With(fmt.Errorf("part %s offers a share of the control's capacity, and no trial has shown that", part.Name), "the trials before it measured nothing; resume the study, or write loads in frames per second")
		}
		do := r.one
		switch {
		case part.Mode == testbed.Serve:
			do = r.serve
		case r.interleaves(part) != study.InSequence:
			do = r.instance
		}
		if err := do(ctx, slot, part); err != nil {
			return err
		}
	}
}

// skip passes over parts whose mode this machine cannot have, or whose load it
// cannot offer.
func (r *run) skip(p study.Part) bool {
	_, gone := r.out.Unavailable[string(p.Mode)]
	_, oneWay := r.out.Unavailable[p.Needs()]
	return gone || oneWay || r.task.Spec.OutOfReach(p, r.task.Done) != ""
}

// enter brings up the mode's testbed. The primary metric's mode must be had;
// any other may be missing, and is named.
func (r *run) enter(ctx context.Context, mode testbed.Mode) error {
	if (r.bed != nil || r.sites != nil) && r.mode == mode {
		return nil
	}
	if err := r.leave(); err != nil {
		return err
	}
	is, err := r.up(ctx, mode)
	if err != nil {
		primary, _ := r.task.Spec.Part(r.task.Spec.Primary().Part)
		if ctx.Err() != nil || primary.Mode == mode {
			return fmt.Errorf("bring up the testbed: %w", err)
		}
		r.out.Unavailable[string(mode)] = err.Error()
		return nil
	}
	r.mode = mode
	r.out.Testbeds[string(mode)] = is
	return nil
}

// direct tells the testbed, if there is one, which directions the part's traffic
// has. As with modes, the primary metric's must be had.
func (r *run) direct(part study.Part) error {
	bed, can := r.bed.(testbed.Duplex)
	if !can && (r.bed == nil || !part.BothWays()) {
		return nil
	}
	err := error(&testbed.ErrUnavailable{Setting: "directions: both", Reason: "this testbed carries traffic one way"})
	if can {
		err = bed.BothWays(part.BothWays())
	}
	var un *testbed.ErrUnavailable
	if !errors.As(err, &un) || part.Name == r.task.Spec.Primary().Part {
		return err
	}
	r.out.Unavailable[part.Needs()] = un.Reason
	return nil
}

// up opens the testbed of a mode. What comes beside an error is no testbed, even
// where it is not nil.
func (r *run) up(ctx context.Context, mode testbed.Mode) (is testbed.Description, _ error) {
	if mode != testbed.Serve {
		bed, err := r.Up(ctx, mode)
		if err != nil {
			return is, err
		}
		r.bed = bed
		return bed.Describe(), nil
	}
	if r.Sites == nil || r.Service == nil {
		return is, errors.New("this lab has no servers")
	}
	sites, err := r.Sites(ctx)
	if err != nil {
		return is, err
	}
	r.sites = sites
	return sites.Describe(), nil
}

// leave closes the testbed that is open.
func (r *run) leave() (err error) {
	if r.bed != nil {
		err = r.bed.Close()
	}
	if r.sites != nil {
		err = errors.Join(err, r.sites.Close())
	}
	if r.bed, r.sites = nil, nil; err != nil {
		return hint.Left(fmt.Errorf("close the testbed: %w", err))
	}
	return nil
}

// one runs a slot's trial and hands it on.
func (r *run) one(ctx context.Context, slot study.Slot, part study.Part) error {
	r.tell(slot, part, nil)
	start := r.Machine.Now()
	t, err := r.trial(ctx, slot, part)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s, block %d, variant %s: %w", part.Name, slot.Block, slot.Variant, err)
	}
	t.Start, t.Seconds = start.UTC(), r.Machine.Now().Sub(start).Seconds()
	if err := r.sink(t); err != nil {
		return err
	}
	r.task.Done = append(r.task.Done, t)
	if t.Unavailable == "" {
		r.pace.add(part.Name, t.Seconds)
	}
	r.tell(slot, part, &t)
	return r.broken(t)
}

// broken ends a run in which trials fail one after the other for want of any
// traffic: the reason is not chance.
func (r *run) broken(t study.Trial) error {
	if t.Unavailable != "" || t.Observed == nil || t.Observed.Flooded && t.Observed.Sent.TxPackets > 0 || t.Observed.Received.RxPackets > 0 || t.Observed.Served != nil && t.Observed.Served.Answered > 0 {
		r.failures = 0
		return nil
	}
	r.failures++
	if r.failures < maxFailures {
		return nil
	}
	return hint.With(fmt.Errorf("%d trials in a row measured nothing: %s", r.failures, t.Reasons[0]),
		"the trials are kept; look at the variant's settings, then resume the study")
}

func (r *run) tell(slot study.Slot, part study.Part, t *study.Trial) {
	if r.progress == nil {
		return
	}
	done, total, left := r.pace.left(r.task, r.skip)
	r.progress(Progress{Slot: slot, Part: part, Done: done, Total: total, Left: left, Trial: t})
}
