package lab

import (
	"context"
	"fmt"
	"math/rand/v2"

	"linerate/internal/search"
	"linerate/internal/study"
)

// stride is one arm's search among others that advance with it.
type stride struct {
	m      *measurer
	p      study.Procedure
	o      study.Observation
	used   float64 // seconds of trials
	done   bool
	failed error
}

// inStep runs a block of a part that searches: all arms are up at once, and
// every search runs its next trial before any runs another. What the machine
// does for longer than a trial, it does to all arms.
func (r *run) inStep(ctx context.Context, slot study.Slot, part study.Part) ([]study.Trial, error) {
	in, err := r.raise(ctx, slot, part, r.task.Spec.Arms())
	if err != nil {
		return nil, err
	}
	cpus := distinct(r.bed.Describe().CPUs)
	before, err := r.check(cpus)
	if err != nil {
		return nil, err
	}
	counted, err := in.counters()
	if err != nil {
		return nil, err
	}
	strides, err := r.strides(in, part)
	defer func() {
		for _, s := range strides {
			s.m.chain.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := r.march(ctx, in, part, strides); err != nil {
		return nil, err
	}
	after, err := r.check(cpus)
	if err != nil {
		return nil, err
	}
	counters, err := in.counters()
	if err != nil {
		return nil, err
	}
	for i, s := range strides {
		s.o.Before, s.o.After, s.o.CPUs = counted[i], counters[i], compare(before, after)
	}
	return r.judgeStrides(in, part, strides), nil
}

// strides loads every arm's generator and receiver.
func (r *run) strides(in *instance, part study.Part) ([]*stride, error) {
	var all []*stride
	for i, a := range in.arms {
		c, err := r.chain(a.Generator, a.Receiver, part, a.Thread)
		if err != nil {
			return all, fmt.Errorf("%s: %w", in.Arms[i], err)
		}
		s := &stride{}
		s.o = study.Observation{Load1: r.Machine.Load1(), Applied: a.Applied}
		s.o.Search = &study.SearchRun{Method: part.Search.Method, Points: []study.SearchPoint{}}
		s.o.Interleaved = &study.Interleaved{How: study.Lockstep, Attempt: in.Attempt, Lane: i}
		// An arm rests while the others run.
		s.m = &measurer{run: r, part: part, chain: c, record: s.o.Search}
		all = append(all, s)
	}
	return all, nil
}

// march finds what the generator can send, then searches in rounds, then
// measures latency at what was found. What fails an arm ends its search only.
func (r *run) march(ctx context.Context, in *instance, part study.Part, strides []*stride) error {
	rng := rand.New(rand.NewPCG(r.task.Seed, uint64(in.Block)<<24|uint64(in.Attempt)<<16|1))
	round := func(do func(*stride) error) error {
		for _, i := range rng.Perm(len(strides)) {
			if s := strides[i]; !s.done {
				s.failed = do(s)
				s.done = s.done || s.failed != nil
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	}
	limit := 0.0
	err := round(func(s *stride) error {
		l, err := s.m.limit(ctx, &s.o)
		if err == nil && (limit == 0 || l < limit) {
			limit = l // the same for all, so that they try the same loads
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := round(func(s *stride) (err error) {
		s.m.warming = warms(part)
		s.p, err = part.Procedure(limit, s.o.Search.GeneratorMax)
		return err
	}); err != nil {
		return err
	}
	for !all(strides) {
		if err := round(func(s *stride) error { return s.step(ctx, part) }); err != nil {
			return err
		}
	}
	for _, s := range strides {
		s.done = s.failed != nil
	}
	return round(func(s *stride) error { return s.m.latency(ctx, s.o.Search) })
}

func all(strides []*stride) bool {
	for _, s := range strides {
		if !s.done {
			return false
		}
	}
	return true
}

// step runs the trial that the search asks for, as search.Run does.
func (s *stride) step(ctx context.Context, part study.Part) error {
	t, more := s.p.Next()
	if !more || s.used+t.Duration > part.Search.LimitSeconds {
		s.done = true
		if more {
			s.o.Search.Ended = search.ErrBudget.Error()
		}
		s.p.Report(s.o.Search)
		return nil
	}
	o, err := s.m.Measure(ctx, t)
	if err != nil {
		return fmt.Errorf("trial at %.0f pps: %w", t.Load, err)
	}
	s.used += max(o.Effective, t.Duration)
	s.p.Add(o)
	return nil
}

// judgeStrides makes each arm's trial of its search.
func (r *run) judgeStrides(in *instance, part study.Part, strides []*stride) []study.Trial {
	var trials []study.Trial
	for i, s := range strides {
		t := r.blank(in, part, in.Arms[i], i)
		t.Observed = &s.o
		t.Metrics, t.Reasons = study.Judge(part, r.task.Spec.Gates, s.o, 0)
		if s.failed != nil {
			t.Reasons = append([]string{s.failed.Error()}, t.Reasons...)
		}
		t.Valid = len(t.Reasons) == 0
		trials = append(trials, t)
	}
	return append(trials, r.absent(in, part)...)
}
