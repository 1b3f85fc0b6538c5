package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"linerate/internal/hint"
	"linerate/internal/port"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Lab is what a study runs on.
type Lab struct {
	Machine Machine
	// Runners run the parts of a study, each those of a kind.
	Runners []Runner
	// AllowHost lets variants use settings that are global to the kernel.
	AllowHost bool
	// Keep stores a file of raw data with the trials; nil discards it.
	Keep func(name string, data []byte) error
	// Profiler profiles the variants of a study that wants it; nil: none are.
	Profiler Profiler
	// Looked takes what it saw of a variant; nil forgets it.
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
	Meter(in port.Place, cpu int) (watched port.Place, contention func() time.Duration)
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
	// Blocks are those to be run, of a unit (study.Units); nil: all that are left,
	// and the looks inside.
	Blocks []int
	// Telemetry is what instruments saw before.
	Telemetry []study.Telemetry
}

// Outcome is what a run returns in addition to its trials.
type Outcome struct {
	// Testbeds describes each mode's testbed; Unavailable says why a mode
	// could not be had.
	Testbeds    map[string]testbed.Description
	Unavailable map[string]string
}

// maxFailures in a row end a study: the testbed is broken, not unlucky.
const maxFailures = 3

// Session is one run of a task.
type Session struct {
	*Lab
	task     Task
	sink     func(study.Trial) error
	progress func(Progress)
	of       Runner // of the part that runs
	up       Bed    // what it has up, in a mode
	mode     testbed.Mode
	out      Outcome
	pace     pace
	failures int
}

// Run runs the slots that the task has left and gives every trial to sink
// when it ends. A sink's error, an impossible setting or a broken testbed
// ends the run; so does ctx, whose unfinished trial is dropped. The outcome
// is valid even when the error is not nil.
func (l *Lab) Run(ctx context.Context, p Task, sink func(study.Trial) error, progress func(Progress)) (Outcome, error) {
	r := &Session{Lab: l, task: p, sink: sink, progress: progress, pace: pace{}}
	r.out = Outcome{Testbeds: map[string]testbed.Description{}, Unavailable: map[string]string{}}
	err := r.everything(ctx)
	return r.out, errors.Join(err, r.leave())
}

// everything is the trials, and then the looks inside.
func (r *Session) everything(ctx context.Context) error {
	if err := r.all(ctx); err != nil || r.task.Blocks != nil {
		return err
	}
	return r.inside(ctx)
}

func (r *Session) all(ctx context.Context) error {
	for {
		slot, ok := study.NextOf(r.task.Spec, r.task.Seed, r.task.Blocks, r.task.Done, r.skip)
		if !ok {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		part, _ := r.task.Spec.Part(slot.Part)
		if err := r.enter(ctx, part); err != nil {
			return err
		}
		if r.skip(part) {
			continue
		}
		part, ok = r.task.Spec.Resolve(part, r.task.Done)
		if !ok {
			return hint.With(fmt.Errorf("part %s offers a share of the control's capacity, and no trial has shown that", part.Name), "the trials before it measured nothing; resume the study, or write loads in frames per second")
		}
		if err := r.run(ctx, slot, part); err != nil {
			return err
		}
	}
}

// skip passes over parts whose mode this machine cannot have, or whose load it
// cannot offer.
func (r *Session) skip(p study.Part) bool {
	lacks := study.Environment{Unavailable: r.out.Unavailable}.Lacks(p)
	return lacks || r.task.Spec.OutOfReach(p, r.task.Done) != ""
}

// enter brings up what a part is measured on, and makes it fit. What the primary
// metric's part needs must be had; what any other does may be missing, and is named.
func (r *Session) enter(ctx context.Context, part study.Part) (err error) {
	if r.of, err = r.runner(part); err != nil {
		return err
	}
	if r.up == nil || r.mode != part.Mode {
		if err := r.leave(); err != nil {
			return err
		}
		up, err := r.of.Up(ctx, part.Mode)
		if err != nil {
			primary, _ := r.task.Spec.Part(r.task.Spec.Primary().Part)
			if ctx.Err() != nil || primary.Mode == part.Mode {
				return fmt.Errorf("bring up the testbed: %w", err)
			}
			r.out.Unavailable[string(part.Mode)] = err.Error()
			return nil
		}
		r.up, r.mode = up, part.Mode
		r.out.Testbeds[string(part.Mode)] = up.Describe()
	}
	err = r.of.Prepare(r, part)
	var un *testbed.ErrUnavailable
	if !errors.As(err, &un) || part.Name == r.task.Spec.Primary().Part {
		return err
	}
	needs := study.Needs(part)
	r.out.Unavailable[needs[len(needs)-1]] = un.Reason
	return nil
}

// leave closes the testbed that is open.
func (r *Session) leave() error {
	up := r.up
	if r.up = nil; up == nil {
		return nil
	}
	if err := up.Close(); err != nil {
		return hint.Left(fmt.Errorf("close the testbed: %w", err))
	}
	return nil
}

// run runs what a slot asks for and hands the trials on, each with its share of the time.
func (r *Session) run(ctx context.Context, slot study.Slot, part study.Part) error {
	r.tell(slot, part, nil)
	start := r.Machine.Now()
	trials, err := r.of.Run(ctx, r, slot, part)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s, block %d: %w", part.Name, slot.Block, err)
	}
	each := r.Machine.Now().Sub(start).Seconds() / float64(len(trials))
	for _, t := range trials {
		t.Start, t.Seconds = start.UTC(), each
		if err := r.sink(t); err != nil {
			return err
		}
		r.task.Done = append(r.task.Done, t)
		if t.Unavailable == "" {
			r.pace.add(part.Name, t.Seconds)
		}
		r.tell(study.Slot{Part: part.Name, Block: t.Block, Order: t.Order, Variant: t.Variant, Retry: t.Retry}, part, &t)
	}
	control := slices.IndexFunc(trials, func(t study.Trial) bool { return t.Variant == r.task.Spec.Control })
	return r.broken(trials[max(0, control)])
}

// broken ends a run in which successive trials fail because no traffic arrives: that is not
// chance.
func (r *Session) broken(t study.Trial) error {
	if t.Unavailable != "" || t.Observed == nil || r.of.Measured(t) {
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

func (r *Session) tell(slot study.Slot, part study.Part, t *study.Trial) {
	if r.progress == nil {
		return
	}
	done, total, left := r.pace.left(r.task, r.skip)
	r.progress(Progress{Slot: slot, Part: part, Done: done, Total: total, Left: left, Trial: t})
}
