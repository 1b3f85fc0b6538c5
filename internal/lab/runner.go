package lab

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/study/serve"
	"linerate/internal/testbed"
)

// Runner runs the parts of one kind (study.Kind).
type Runner interface {
	// Kind is the kind's name.
	Kind() string
	// Up brings up what parts of a mode are measured on. What comes beside an
	// error is nothing, even where it is not nil.
	Up(ctx context.Context, mode testbed.Mode) (Bed, error)
	// Prepare makes what is up fit for a part. An ErrUnavailable says what it
	// lacks: parts that need it are passed over.
	Prepare(s *Session, part study.Part) error
	// Run runs what a slot asks for, its trial or all of its block, and hands on
	// what came of it (Session.Deliver).
	Run(ctx context.Context, s *Session, slot study.Slot, part study.Part) error
	// Measured reports whether a trial had any traffic: a run in which several in a
	// row had none is broken.
	Measured(t study.Trial) bool
}

// Bed is what a runner has up: a testbed.Bed, testbed.Sites, or its own.
type Bed interface {
	Describe() testbed.Description
	Close() error
}

// runner is the one of a part's kind.
func (l *Lab) runner(part study.Part) (Runner, error) {
	kind := study.KindOf(part).Name()
	for _, r := range append([]Runner{packets{l}, searches{packets{l}}, servers{l}}, l.Runners...) {
		if r.Kind() == kind {
			return r, nil
		}
	}
	return nil, fmt.Errorf("this lab runs no parts of kind %s", kind)
}

// packets runs parts that forward packets.
type packets struct{ *Lab }

func (packets) Kind() string { return "forward" }

func (l packets) Up(ctx context.Context, mode testbed.Mode) (Bed, error) { return l.Lab.Up(ctx, mode) }

// Prepare tells the testbed which directions the part's traffic has.
func (packets) Prepare(s *Session, part study.Part) error {
	bed, can := s.bed.(testbed.Duplex)
	switch {
	case can:
		return bed.BothWays(forward.BothWays(part))
	case s.bed == nil || !forward.BothWays(part):
		return nil
	}
	return &testbed.ErrUnavailable{Setting: "directions: both", Reason: "this testbed carries traffic one way"}
}

func (packets) Run(ctx context.Context, s *Session, slot study.Slot, part study.Part) error {
	if s.interleaves(part) != study.InSequence {
		return s.instance(ctx, slot, part)
	}
	return s.one(ctx, slot, part)
}

func (packets) Measured(t study.Trial) bool {
	return t.Observed.Received.RxPackets > 0 || forward.In(t.Observed).Flooded && t.Observed.Sent.TxPackets > 0
}

// searches runs parts that search: packets at loads of a method's choice.
type searches struct{ packets }

func (searches) Kind() string { return "search" }

// servers runs parts that ask servers.
type servers struct{ *Lab }

func (servers) Kind() string { return "serve" }

func (l servers) Up(ctx context.Context, _ testbed.Mode) (Bed, error) {
	if l.Sites == nil || l.Service == nil {
		return nil, errors.New("this lab has no servers")
	}
	return l.Sites(ctx)
}

func (servers) Prepare(*Session, study.Part) error { return nil }

func (servers) Run(ctx context.Context, s *Session, slot study.Slot, part study.Part) error {
	return s.serve(ctx, slot, part)
}

func (servers) Measured(t study.Trial) bool {
	return serve.In(t.Observed) != nil && serve.In(t.Observed).Answered > 0
}
