package lab

import (
	"context"
	"fmt"

	"linerate/internal/profile"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Runner runs the parts of one kind (study.Kind).
type Runner interface {
	Kind() study.Kind
	// Up sets up the testbed for parts of a mode. If it returns an error, the
	// Bed must be ignored even if it is not nil.
	Up(ctx context.Context, mode testbed.Mode) (Bed, error)
	// Prepare prepares the bed for a part. ErrUnavailable says what the bed
	// lacks; the part is then skipped.
	Prepare(s *Session, part study.Part) error
	// Run runs what a slot requests: its trial, or all trials of its block.
	Run(ctx context.Context, s *Session, slot study.Slot, part study.Part) ([]study.Trial, error)
	// Measured reports whether a trial had any traffic: a run with several
	// consecutive trials without is broken.
	Measured(t study.Trial) bool
}

// Looker is a Runner that can profile variants.
type Looker interface {
	Runner
	// Look sets a variant up once and runs its traffic under the profiler.
	Look(ctx context.Context, s *Session, in study.Inside) (study.Telemetry, error)
}

// Bed is what a runner has up: a testbed.Bed, testbed.Sites, or its own type.
type Bed interface {
	Describe() testbed.Description
	Close() error
}

// Profiler samples CPUs (empty: all) while traffic runs, which disturbs them. It starts,
// or returns why it cannot; end stops it.
type Profiler func(ctx context.Context, cpus []int) (end func() (*profile.Profile, error), err error)

// runner returns the runner for a part's kind.
func (l *Lab) runner(part study.Part) (Runner, error) {
	kind := study.KindOf(part)
	for _, r := range l.Runners {
		if r.Kind() == kind {
			return r, nil
		}
	}
	return nil, fmt.Errorf("this lab runs no parts of kind %s", kind)
}

// Up brings up what a part is measured on; the caller must close it.
func (l *Lab) Up(ctx context.Context, part study.Part) (Bed, error) {
	r, err := l.runner(part)
	if err != nil {
		return nil, err
	}
	return r.Up(ctx, part.Mode)
}

// inside profiles every variant for which the study requests it.
func (r *Session) inside(ctx context.Context) error {
	if r.Profiler == nil {
		return nil
	}
	for {
		in, ok := study.InsideNext(r.task.Spec, r.task.Telemetry, r.task.Done, r.skip)
		if !ok {
			return nil
		}
		if err := r.enter(ctx, in.Part); err != nil {
			return err
		}
		if r.skip(in.Part) {
			continue
		}
		of, can := r.of.(Looker)
		if !can {
			return fmt.Errorf("part %s: profiling is not available", in.Part.Name)
		}
		start := r.Machine.Now()
		t, err := of.Look(ctx, r, in)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("profile %s, part %s: %w", in.Variant, in.Part.Name, err)
		}
		t.Start, t.Seconds = start.UTC(), r.Machine.Now().Sub(start).Seconds()
		if r.Looked != nil {
			if err := r.Looked(t); err != nil {
				return err
			}
		}
		r.task.Telemetry = append(r.task.Telemetry, t)
	}
}
