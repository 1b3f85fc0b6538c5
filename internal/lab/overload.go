package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// turn is one arm's share of a block in which overloaded DUTs take turns.
type turn struct {
	c      *chain
	o      study.Observation
	slices int
	failed error
}

// inTurn runs a block of a part in mode overload: all DUTs are up, their
// threads on one CPU, and are offered the load in slices of tens of
// milliseconds, in rounds of random order. An arm's account is the sum of its
// slices; the receiver waits after each until nothing more comes.
func (r *run) inTurn(ctx context.Context, slot study.Slot, part study.Part) ([]study.Trial, error) {
	in, err := r.raise(ctx, slot, part, r.task.Spec.Arms())
	if err != nil {
		return nil, err
	}
	turns, err := r.takeTurns(in, part)
	defer func() {
		for _, t := range turns {
			t.c.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	cpus := distinct(r.bed.Describe().CPUs)
	before, err := r.check(cpus)
	if err != nil {
		return nil, err
	}
	counted, err := r.alternateSlices(ctx, in, part, turns)
	if err != nil {
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
	for i, t := range turns {
		t.o.Before, t.o.After, t.o.CPUs = counted[i], counters[i], compare(before, after)
	}
	return r.judgeTurns(in, part, turns), nil
}

// takeTurns loads every arm's generator and receiver.
func (r *run) takeTurns(in *instance, part study.Part) ([]*turn, error) {
	var all []*turn
	for i, a := range in.arms {
		c, err := r.chain(a.Generator, a.Receiver, part, a.Thread)
		if err != nil {
			return all, fmt.Errorf("%s: %w", in.Arms[i], err)
		}
		t := &turn{c: c}
		t.o = study.Observation{Load1: r.Machine.Load1(), Applied: a.Applied}
		t.o.Interleaved = &study.Interleaved{How: study.Alternating, Attempt: in.Attempt, Lane: i}
		all = append(all, t)
	}
	return all, nil
}

// alternateSlices warms every arm up, then sends in rounds, and returns the
// DUTs' counters between the two.
func (r *run) alternateSlices(ctx context.Context, in *instance, part study.Part, turns []*turn) ([]testbed.Counters, error) {
	n := part.Turns()
	offer, err := part.Offer(part.Seconds / float64(n))
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(r.task.Seed, uint64(in.Block)<<24|uint64(in.Attempt)<<16|2))
	round := func(do func(*turn) error) error {
		for _, i := range rng.Perm(len(turns)) {
			if t := turns[i]; t.failed == nil {
				t.failed = do(t)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	}
	if err := round(func(t *turn) error { return t.c.warm(ctx, offer.Rate, part.Warmup) }); err != nil {
		return nil, err
	}
	time.Sleep(betweenSlices)
	counted, err := in.counters()
	for range n {
		if err != nil {
			break
		}
		err = round(func(t *turn) error { return t.slice(ctx, offer) })
	}
	return counted, err
}

// betweenSlices is for how long the last frames of a warm-up may still move.
const betweenSlices = 20 * time.Millisecond

// slice offers the load once more and adds what came of it.
func (t *turn) slice(ctx context.Context, o load.Offer) error {
	if err := t.c.rx.Reset(); err != nil {
		return err
	}
	got, err := t.c.run(ctx, o, 0, nil)
	if t.slices++; t.slices == 1 {
		t.o.Sent, t.o.Received = got.sent, got.received
	} else {
		t.o.Sent, t.o.Received = t.o.Sent.Plus(got.sent), t.o.Received.Plus(got.received)
	}
	t.o.Contention += got.contention.Seconds()
	return err
}

// judgeTurns makes each arm's trial of its slices.
func (r *run) judgeTurns(in *instance, part study.Part, turns []*turn) []study.Trial {
	var trials []study.Trial
	for i, own := range turns {
		t := r.blank(in, part, in.Arms[i], i)
		t.Observed = &own.o
		t.Metrics, t.Reasons = study.Judge(part, r.task.Spec.Gates, own.o, 0)
		if own.failed != nil {
			t.Reasons = append([]string{own.failed.Error()}, t.Reasons...)
		}
		t.Valid = len(t.Reasons) == 0
		trials = append(trials, t)
	}
	return append(trials, r.absent(in, part)...)
}
