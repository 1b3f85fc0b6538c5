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
	// Runners run the parts of a study, each those of one kind.
	Runners []Runner
	// AllowHost allows variants to change settings that are global to the kernel.
	AllowHost bool
	// Keep stores a raw data file with the trials; nil discards it.
	Keep func(name string, data []byte) error
	// Profiler profiles the variants of a study that requests it; nil disables profiling.
	Profiler Profiler
	// Looked receives the profiles of variants; nil discards them.
	Looked func(study.Telemetry) error
}

// Machine is the computer under the testbed, observed during measurements.
type Machine interface {
	Now() time.Time
	// Spin returns the duration of a fixed piece of work on a CPU, in ns; −1 is any CPU.
	Spin(cpu int) (float64, error)
	// Stolen returns the time that the hypervisor took from a CPU since boot.
	Stolen(cpu int) (time.Duration, error)
	// Load1 returns the one-minute load average.
	Load1() float64
	// Meter returns in as a place whose threads are watched, and a function
	// that returns how long they were runnable but waiting, since its last
	// call, while the CPU ran other programs.
	Meter(in port.Place, cpu int) (watched port.Place, contention func() time.Duration)
	// Watch does the same for a running thread.
	Watch(thread, cpu int) (contention func() time.Duration)
}

// Progress reports how far a study has got.
type Progress struct {
	Slot        study.Slot
	Part        study.Part
	Done, Total int           // trials, without retries
	Left        time.Duration // estimated
	// Trial is the trial that just ended; nil when one begins.
	Trial *study.Trial
}

// Task is a study to run: what, in which order, after which trials.
type Task struct {
	Spec study.Spec
	Seed uint64
	Done []study.Trial
	// Blocks are the blocks of a unit to run (study.Units); nil: all that are
	// left, and the profiles.
	Blocks []int
	// Telemetry is what was profiled before.
	Telemetry []study.Telemetry
}

// Outcome is what a run returns in addition to its trials.
type Outcome struct {
	// Testbeds describes each mode's testbed; Unavailable says why a mode was
	// unavailable.
	Testbeds    map[string]testbed.Description
	Unavailable map[string]string
}

// maxFailures is the number of consecutive failures that end a study: the testbed is then broken.
const maxFailures = 3

// Session is one run of a task.
type Session struct {
	*Lab
	task     Task
	sink     func(study.Trial) error
	progress func(Progress)
	of       Runner // runner of the current part
	up       Bed    // the runner's bed, set up for mode
	mode     testbed.Mode
	out      Outcome
	pace     pace
	failures int
}

// Run runs the remaining slots of the task and passes every trial to sink
// when it ends. A sink's error, an impossible setting or a broken testbed
// ends the run, as does ctx, which drops the unfinished trial. The outcome is
// valid even if there is an error.
func (l *Lab) Run(ctx context.Context, p Task, sink func(study.Trial) error, progress func(Progress)) (Outcome, error) {
	r := &Session{Lab: l, task: p, sink: sink, progress: progress, pace: pace{}}
	r.out = Outcome{Testbeds: map[string]testbed.Description{}, Unavailable: map[string]string{}}
	err := r.everything(ctx)
	return r.out, errors.Join(err, r.leave())
}

// everything runs the trials, and then the profiles.
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
			return hint.With(fmt.Errorf("part %s offers a share of the control's capacity, which no trial has measured yet", part.Name), "the trials before it measured nothing; resume the study, or write loads in frames per second")
		}
		if err := r.run(ctx, slot, part); err != nil {
			return err
		}
	}
}

// skip reports whether to skip a part because this machine lacks its mode or
// cannot offer its load.
func (r *Session) skip(p study.Part) bool {
	lacks := study.Environment{Unavailable: r.out.Unavailable}.Lacks(p)
	return lacks || r.task.Spec.OutOfReach(p, r.task.Done) != ""
}

// enter brings up and prepares what a part is measured on. What the primary metric's
// part needs is required; other parts may be unavailable, and are then reported.
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

// leave closes the open testbed.
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

// run runs what a slot requests and passes the trials on, each with its share of the time.
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

// broken ends a run if consecutive trials fail because no traffic arrives: that is no
// coincidence.
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
