package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"linerate/internal/drop"
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/study/search"
	"linerate/internal/testbed"
)

// instance is one block of an interleaved part: all arms up at once, made anew
// in random order, taking turns.
type instance struct {
	forward.Instance
	part   study.Part
	how    study.Interleaving
	first  int      // place in the block of the first arm made
	shares []*share // by lane
	gone   map[string]string
	rng    *rand.Rand // order of the rounds
}

// share is an arm's part in an instance.
type share struct {
	testbed.Arm
	o      study.Observation
	done   bool  // takes no part in further rounds
	failed error // why
	// hopeless: its first slice fell short each time it was done.
	hopeless bool
}

// way is how the arms of an instance take turns. What is an arm's own is noted
// in its share; errors end the study.
type way interface {
	// ready loads what sends and receives, and warms the arms up.
	ready(ctx context.Context) error
	// send runs all traffic that is measured.
	send(ctx context.Context) error
	// account notes what came of it.
	account() error
	close()
}

// interleaves reports how a part's trials run here: what the study allows, if
// testbed and engine can.
func (r *Session) interleaves(part study.Part) study.Interleaving {
	_, many := r.bed.(testbed.Multi)
	s := r.task.Spec
	if !r.AllowHost && part.Mode == testbed.Overload {
		s = s.Local() // the others are unavailable
	}
	how := s.Interleaving(part)
	if !many || !r.takesTurns() && part.Mode == testbed.Cost {
		return study.InSequence
	}
	if part.Mode == testbed.Cost && how == study.Alternating && !r.AllowHost {
		return study.BySlices // the variants that need it are unavailable
	}
	return how
}

// way chooses how an instance's arms take turns.
func (r *Session) way(in *instance) way {
	own := ownChains{run: r, in: in}
	switch {
	case search.Of(in.part) != nil:
		return &lockstep{ownChains: own}
	case in.part.Mode == testbed.Overload:
		return &overload{ownChains: own}
	}
	return &slicing{run: r, in: in}
}

// instance runs a block of an interleaved part and hands its trials on.
func (r *Session) instance(ctx context.Context, slot study.Slot, part study.Part) error {
	r.tell(slot, part, nil)
	start := r.Machine.Now()
	trials, err := r.together(ctx, slot, part)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s, block %d: %w", part.Name, slot.Block, err)
	}
	return r.deliver(trials, start, part)
}

// deliver hands the trials of a block on.
func (r *Session) deliver(trials []study.Trial, start time.Time, part study.Part) error {
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

// together brings all arms up, looks at the machine and at the DUTs' counters,
// runs the traffic, looks again, and judges each arm.
func (r *Session) together(ctx context.Context, slot study.Slot, part study.Part) ([]study.Trial, error) {
	in, err := r.raise(ctx, slot, part)
	if err != nil {
		return nil, err
	}
	w := r.way(in)
	defer w.close()
	if err := w.ready(ctx); err != nil {
		return nil, err
	}
	cpus := distinct(r.bed.Describe().CPUs)
	before, err := r.check(cpus)
	if err != nil {
		return nil, err
	}
	if err := in.count(func(o *study.Observation) *testbed.Counters { return &o.Before }); err != nil {
		return nil, err
	}
	if err := w.send(ctx); err != nil {
		return nil, err
	}
	after, err := r.check(cpus)
	if err != nil {
		return nil, err
	}
	if err := in.count(func(o *study.Observation) *testbed.Counters { return &o.After }); err != nil {
		return nil, err
	}
	if err := w.account(); err != nil {
		return nil, err
	}
	for _, s := range in.shares {
		s.o.CPUs = compare(before, after)
	}
	return r.judge(in), nil
}

// count reads every DUT's counters.
func (in *instance) count(into func(*study.Observation) *testbed.Counters) error {
	for _, s := range in.shares {
		if s.Counters == nil {
			continue
		}
		c, err := s.Counters()
		if err != nil {
			return fmt.Errorf("read the DUT's counters: %w", err)
		}
		*into(&s.o) = c
	}
	return nil
}

// watched counts what died in every DUT while do ran; of asks which counters of
// an arm.
func (in *instance) watched(do func() error, of func(testbed.Arm) func() (drop.Counters, error)) (err error) {
	watches := make([]*dropWatch, len(in.shares))
	for i, s := range in.shares {
		if watches[i], err = watchDrops(of(s.Arm)); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	for i, s := range in.shares {
		if err = watches[i].into(&s.o); err != nil {
			return err
		}
	}
	return nil
}

// ownDrops are what only the arm itself counts. allDrops are the machine's too:
// of ways whose arms share the time, all are told all of it.
func ownDrops(a testbed.Arm) func() (drop.Counters, error) { return a.Drops }

func allDrops(a testbed.Arm) func() (drop.Counters, error) {
	if a.Drops == nil || a.Machine == nil {
		return a.Drops
	}
	return func() (drop.Counters, error) {
		own, err := a.Drops()
		if err != nil {
			return nil, err
		}
		all, err := a.Machine()
		return own.Plus(all), err
	}
}

// round does something with every arm that still takes part, in random order.
// What fails ends that arm's part only.
func (in *instance) round(ctx context.Context, do func(lane int) error) error {
	for _, lane := range in.rng.Perm(len(in.shares)) {
		if s := in.shares[lane]; !s.done {
			s.failed = do(lane)
			s.done = s.done || s.failed != nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// raise brings up those of the arms that can be had, in random order.
func (r *Session) raise(ctx context.Context, slot study.Slot, part study.Part) (*instance, error) {
	in := &instance{part: part, how: r.interleaves(part), gone: map[string]string{}}
	in.Part, in.Block, in.Control = part.Name, slot.Block, r.task.Spec.Control
	in.Attempt = study.Attempts(r.task.Done, slot.Block) + 1
	for _, t := range r.task.Done {
		if t.Block == slot.Block {
			in.first = max(in.first, t.Order)
		}
	}
	in.rng = rand.New(rand.NewPCG(r.task.Seed, uint64(slot.Block)<<16|uint64(in.Attempt)))
	wanted := r.wanted(in)
	arms, err := r.bed.(testbed.Multi).Raise(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for i, a := range arms {
		if a.Unavailable != nil {
			in.gone[wanted[i].Name] = a.Unavailable.Error()
			continue
		}
		s := &share{Arm: a}
		s.o = study.Observation{Load1: r.Machine.Load1(), Applied: a.Applied,
			Interleaved: &study.Interleaved{How: in.how, Attempt: in.Attempt, Lane: len(in.shares)}}
		in.Arms, in.shares = append(in.Arms, wanted[i].Name), append(in.shares, s)
	}
	return in, nil
}

// wanted are the arms to be tried, in random order: what is known to be
// unavailable is asked for once, what the run forbids never.
func (r *Session) wanted(in *instance) (wanted []testbed.Settings) {
	s := &r.task.Spec
	known := map[string]bool{}
	for _, t := range r.task.Done {
		known[t.Variant] = known[t.Variant] || t.Unavailable != ""
	}
	names := s.Arms()
	if in.part.Mode == testbed.Cost {
		names = append(names, study.BypassLane)
	}
	in.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if known[name] {
			continue
		}
		v, _ := s.Variant(name)
		if why := r.here().Why(v); why != "" {
			in.gone[name] = why
			continue
		}
		w := testbed.Settings{Name: name, Bypass: name == study.BypassLane, Settings: v.Apply()}
		if in.how == study.Alternating && in.part.Mode == testbed.Cost {
			w.Settings = v.ApplyLocal()
		}
		wanted = append(wanted, w)
	}
	return wanted
}

// judge makes each arm's trial of what was observed, and of those that could
// not be had.
func (r *Session) judge(in *instance) (trials []study.Trial) {
	for lane, s := range in.shares {
		if in.Arms[lane] == study.BypassLane {
			continue
		}
		t := in.blank(in.Arms[lane], lane)
		t.Observed = &s.o
		t.Metrics, t.Reasons = study.Judge(in.part, r.task.Spec.Gates, s.o)
		if s.failed != nil {
			t.Reasons = append([]study.Refusal{study.Failed(s.failed)}, t.Reasons...)
		}
		t.Valid = len(t.Reasons) == 0
		trials = append(trials, t)
	}
	for _, arm := range r.task.Spec.Arms() {
		if why, is := in.gone[arm]; is {
			trials = append(trials, unavailable(in.blank(arm, len(in.shares)), why))
		}
	}
	return trials
}

// blank is an arm's trial before anything is known of it.
func (in *instance) blank(arm string, lane int) study.Trial {
	return study.Trial{Part: in.Part, Variant: arm, Block: in.Block, Order: in.first + lane + 1, Mode: in.part.Mode,
		Retry: in.Attempt > 1, Reasons: []study.Refusal{}, Metrics: map[string]float64{}}
}

// ownChains are ways in which every arm has a generator and a receiver of its
// own.
type ownChains struct {
	run    *Session
	in     *instance
	chains []*chain // by lane
}

// open loads them.
func (w *ownChains) open() error {
	for lane, s := range w.in.shares {
		c, err := w.run.chain([]testbed.Way{{Generator: s.Generator, Receiver: s.Receiver, Share: 1}}, w.in.part, s.Thread)
		if err != nil {
			return fmt.Errorf("%s: %w", w.in.Arms[lane], err)
		}
		w.chains = append(w.chains, c)
	}
	return nil
}

// account: each arm's is in its share already.
func (w *ownChains) account() error { return nil }

func (w *ownChains) close() {
	for _, c := range w.chains {
		c.close()
	}
}
