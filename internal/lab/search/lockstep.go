package search

import (
	"context"
	"math"
	"slices"

	packets "linerate/internal/lab/forward"
)

// lockstep is the way of searches: every search runs its next trial before any
// runs another. What the machine does for longer than a trial, it does to all
// arms.
type lockstep struct {
	packets.OwnChains
	arms []*measurer // by lane
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
		w.arms = append(w.arms, &measurer{Setup: w.Setup, chain: w.Chains[lane], record: s.Observed.Search})
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
		l, err := w.arms[lane].limit(ctx, &w.Shares[lane].Observed)
		if err == nil {
			limit = min(limit, l)
		}
		return err
	}); err != nil {
		return err
	}
	if err := w.Round(ctx, func(lane int) error { return w.arms[lane].begin(limit) }); err != nil {
		return err
	}
	for slices.ContainsFunc(w.Shares, func(s *packets.Share) bool { return !s.Done }) {
		if err := w.Round(ctx, func(lane int) error {
			more, err := w.arms[lane].step(ctx)
			w.Shares[lane].Done = !more && err == nil
			return err
		}); err != nil {
			return err
		}
	}
	for _, s := range w.Shares {
		s.Done = s.Failed != nil
	}
	return w.Round(ctx, func(lane int) error {
		m := w.arms[lane]
		return m.latency(ctx, m.record)
	})
}
