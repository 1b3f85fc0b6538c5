// Package forward runs parts that offer packets to a DUT, which forwards them at a cost
// or under overload, or is flooded with them. Parts that search are run by package
// lab/search.
//
// Files:
//
//   - the runner and its bed: runner.go
//   - trials one after another, and what is observed meanwhile: trial.go, chain.go; floods: management.go
//   - arms set up together, measured in slices or in turns: instance.go, slices.go,
//     overload.go
//   - profiles: look.go
package forward

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/lab"
	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Runner runs parts that offer packets.
type Runner struct {
	// Bed brings up a testbed in a mode.
	Bed    func(ctx context.Context, mode testbed.Mode) (testbed.Bed, error)
	Engine load.Engine
	// Manager probes whether DUTs are still usable; nil: they are not probed.
	Manager Manager
}

var _ lab.Looker = (*Runner)(nil)

// Setup is what a part's trials run on: a testbed that is up, and the runner's engine.
type Setup struct {
	*lab.Session
	*Runner
	Bed  testbed.Bed
	Part study.Part
	up   *up
}

// up is a testbed that is up, with the slicer of a part.
type up struct {
	testbed.Bed
	slicer load.Slicer // of the part named part, or nil
	part   string
}

// Close closes the slicer, and then the testbed.
func (u *up) Close() error { return errors.Join(u.closeSlicer(), u.Bed.Close()) }

// Kind implements lab.Runner.
func (*Runner) Kind() study.Kind { return study.KindForward }

// Up implements lab.Runner.
func (r *Runner) Up(ctx context.Context, mode testbed.Mode) (lab.Bed, error) {
	bed, err := r.Bed(ctx, mode)
	return &up{Bed: bed}, err
}

// Prepare implements lab.Runner: it tells the testbed the directions of the
// part's traffic.
func (r *Runner) Prepare(s *lab.Session, part study.Part) error {
	u, is := s.Bed().(*up)
	if !is {
		return nil
	}
	bed, can := u.Bed.(testbed.Duplex)
	switch {
	case can:
		return bed.BothWays(study.GoesBothWays(part))
	case !study.GoesBothWays(part):
		return nil
	}
	return &testbed.ErrUnavailable{Setting: "directions: both", Reason: "this testbed carries traffic one way"}
}

// Run implements lab.Runner.
func (r *Runner) Run(ctx context.Context, s *lab.Session, slot study.Slot, part study.Part) ([]study.Trial, error) {
	how := By{Measure: (*Setup).measure, Way: func(in *Instance) Way { return &slicing{Instance: in} }}
	switch {
	case part.Flood != "":
		how.Measure = (*Setup).flood
	case study.InOverload(part):
		how.Way = func(in *Instance) Way { return &overload{OwnChains{Instance: in}} }
	}
	return r.RunBy(ctx, s, slot, part, how)
}

// By holds the functions that measure a part of this kind, or a similar one.
type By struct {
	// Measure runs a trial's traffic through one DUT. failed is a failure of the
	// traffic; err is a permanent error.
	Measure func(u *Setup, ctx context.Context, o *study.Observation) (failed, err error)
	// Way returns how the arms of an instance take turns.
	Way func(in *Instance) Way
}

// RunBy runs what a slot requests.
func (r *Runner) RunBy(ctx context.Context, s *lab.Session, slot study.Slot, part study.Part, by By) ([]study.Trial, error) {
	u := r.setup(s, part)
	if u.interleaves() != study.InSequence {
		return u.together(ctx, slot, by)
	}
	t, err := u.trial(ctx, slot, by)
	if err != nil {
		return nil, fmt.Errorf("variant %s: %w", slot.Variant, err)
	}
	return []study.Trial{t}, nil
}

func (r *Runner) setup(s *lab.Session, part study.Part) *Setup {
	u := s.Bed().(*up)
	return &Setup{Session: s, Runner: r, Bed: u.Bed, Part: part, up: u}
}

// Measured implements lab.Runner.
func (*Runner) Measured(t study.Trial) bool {
	return t.Observed.Received.RxPackets > 0 || t.Saw().Flooded && t.Observed.Sent.TxPackets > 0
}
