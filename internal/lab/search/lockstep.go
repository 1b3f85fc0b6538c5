package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	packets "linerate/internal/lab/forward"
	"linerate/internal/search"
	"linerate/internal/study"
)

// lockstep is the way of searches: every search runs its next trial before any
// runs another. What the machine does for longer than a trial, it does to all
// arms.
type lockstep struct {
	packets.OwnChains
	strides []stride // by lane
}

// stride is one arm's search.
type stride struct {
	m *measurer
	p study.Procedure
}

// inStep makes it.
func inStep(in *packets.Instance) packets.Way {
	return &lockstep{OwnChains: packets.OwnChains{Instance: in}}
}

func (w *lockstep) Ready(context.Context) error {
	if err := w.Open(); err != nil {
		return err
	}
	for lane, s := range w.Shares {
		s.Observed.Search = begun(w.Part)
		// An arm rests while the others run: nothing need settle.
		w.strides = append(w.strides, stride{m: &measurer{Setup: w.Setup, chain: w.Chains[lane], record: s.Observed.Search}})
	}
	return nil
}

func (w *lockstep) Send(ctx context.Context) error {
	return w.Watched(func() error { return w.search(ctx) }, packets.AllDrops)
}

// search finds what the generator can send, then searches in rounds, then
// measures latency at what was found. What fails an arm ends its search only.
func (w *lockstep) search(ctx context.Context) error {
	limit := math.Inf(1) // the same for all, so that they try the same loads
	if err := w.Round(ctx, func(lane int) error {
		l, err := w.strides[lane].m.limit(ctx, &w.Shares[lane].Observed)
		if err == nil {
			limit = min(limit, l)
		}
		return err
	}); err != nil {
		return err
	}
	if err := w.Round(ctx, func(lane int) (err error) {
		s := &w.strides[lane]
		s.p, err = study.NewProcedure(w.Part, limit, s.m.record.GeneratorMax)
		s.m.begin(s.p)
		return err
	}); err != nil {
		return err
	}
	for slices.ContainsFunc(w.Shares, func(s *packets.Share) bool { return !s.Done }) {
		if err := w.Round(ctx, func(lane int) error { return w.step(ctx, lane) }); err != nil {
			return err
		}
	}
	for _, s := range w.Shares {
		s.Done = s.Failed != nil
	}
	return w.Round(ctx, func(lane int) error {
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
	w.Shares[lane].Done = true
	return nil
}
