package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"linerate/internal/search"
	searchkind "linerate/internal/study/search"
)

// lockstep is the way of searches: every search runs its next trial before any
// runs another. What the machine does for longer than a trial, it does to all
// arms.
type lockstep struct {
	ownChains
	strides []stride // by lane
}

// stride is one arm's search.
type stride struct {
	m *measurer
	p searchkind.Procedure
}

func (w *lockstep) ready(context.Context) error {
	if err := w.open(); err != nil {
		return err
	}
	for lane, s := range w.in.shares {
		s.o.Own = (&searchkind.Run{Method: searchkind.Of(w.in.part).Method, Points: []searchkind.Point{}}).Observed()
		// An arm rests while the others run: nothing need settle.
		w.strides = append(w.strides, stride{m: &measurer{run: w.run, part: w.in.part, chain: w.chains[lane], record: searchkind.In(&s.o)}})
	}
	return nil
}

func (w *lockstep) send(ctx context.Context) error {
	return w.in.watched(func() error { return w.search(ctx) }, allDrops)
}

// search finds what the generator can send, then searches in rounds, then
// measures latency at what was found. What fails an arm ends its search only.
func (w *lockstep) search(ctx context.Context) error {
	limit := math.Inf(1) // the same for all, so that they try the same loads
	if err := w.in.round(ctx, func(lane int) error {
		l, err := w.strides[lane].m.limit(ctx, &w.in.shares[lane].o)
		if err == nil {
			limit = min(limit, l)
		}
		return err
	}); err != nil {
		return err
	}
	if err := w.in.round(ctx, func(lane int) (err error) {
		s := &w.strides[lane]
		s.p, err = searchkind.NewProcedure(w.in.part, limit, s.m.record.GeneratorMax)
		s.m.begin(s.p)
		return err
	}); err != nil {
		return err
	}
	for slices.ContainsFunc(w.in.shares, func(s *share) bool { return !s.done }) {
		if err := w.in.round(ctx, func(lane int) error { return w.step(ctx, lane) }); err != nil {
			return err
		}
	}
	for _, s := range w.in.shares {
		s.done = s.failed != nil
	}
	return w.in.round(ctx, func(lane int) error {
		m := w.strides[lane].m
		return m.latency(ctx, m.record)
	})
}

// step runs the trial that an arm's search asks for, as search.Run does.
func (w *lockstep) step(ctx context.Context, lane int) error {
	s := &w.strides[lane]
	t, more := s.p.Next()
	if more {
		o, err := s.m.Measure(ctx, t)
		if err == nil {
			s.p.Add(o)
			return nil
		}
		if !errors.Is(err, search.ErrBudget) {
			return fmt.Errorf("trial at %.0f pps: %w", t.Load, err)
		}
		s.m.record.Ended = err.Error()
	}
	s.p.Report(s.m.record)
	w.in.shares[lane].done = true
	return nil
}
