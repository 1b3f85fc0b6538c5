package forward

import (
	"context"
	"fmt"
	"math/rand/v2"

	"linerate/internal/drop"
	"linerate/internal/lab"
	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Instance is one block of an interleaved part: all arms are up at once,
// created in a new random order, and take turns.
type Instance struct {
	*Setup
	Shares []*Share // by lane
	raw    study.Instance
	how    study.Interleaving
	gone   map[string]string
	rng    *rand.Rand // for the order of the rounds
}

// Share is one arm of an instance.
type Share struct {
	lab.Lane
	testbed.Arm
	Done bool // takes no part in further rounds
	// hopeless is set if its first slice fell short in every attempt.
	hopeless bool
}

// Way is how the arms of an instance take turns. Failures of one arm are
// recorded in its share; errors end the study.
type Way interface {
	// Ready loads generators and receivers, and warms the arms up.
	Ready(ctx context.Context) error
	// Send runs all measured traffic.
	Send(ctx context.Context) error
	// Account records the results.
	Account() error
	// Close releases what Ready loaded.
	Close()
}

// interleaves returns how the part's trials run here: as the study allows, if
// testbed and engine support it.
func (u *Setup) interleaves() study.Interleaving {
	_, many := u.Bed.(testbed.Multi)
	_, slices := u.Engine.(load.Interleaver)
	s, cost := *u.Spec(), u.Part.Mode == testbed.Cost
	if !u.AllowHost && !cost {
		s = s.Local() // the others are unavailable
	}
	how := s.Interleaving(u.Part)
	if !many || !slices && cost {
		return study.InSequence
	}
	if cost && how == study.Alternating && !u.AllowHost {
		return study.BySlices // the variants that need it are unavailable
	}
	return how
}

// together brings all arms up, checks the machine and the DUTs' counters
// before and after the traffic, and judges each arm.
func (u *Setup) together(ctx context.Context, slot study.Slot, by By) ([]study.Trial, error) {
	in, err := u.raise(ctx, slot)
	if err != nil {
		return nil, err
	}
	w := by.Way(in)
	defer w.Close()
	if err := w.Ready(ctx); err != nil {
		return nil, err
	}
	again, err := u.Check(u.CPUs())
	if err != nil {
		return nil, err
	}
	if err := in.count(func(o *study.Observation) *testbed.Counters { return &o.Before }); err != nil {
		return nil, err
	}
	if err := w.Send(ctx); err != nil {
		return nil, err
	}
	cpus, err := again()
	if err != nil {
		return nil, err
	}
	if err := in.count(func(o *study.Observation) *testbed.Counters { return &o.After }); err != nil {
		return nil, err
	}
	if err := w.Account(); err != nil {
		return nil, err
	}
	arms := make([]*lab.Lane, len(in.Shares))
	for i, s := range in.Shares {
		s.Observed.CPUs, arms[i] = cpus, &s.Lane
	}
	slot.Order, slot.Retry = u.Last(slot.Block), in.raw.Attempt > 1
	return u.Together(slot, u.Part, arms, in.gone), nil
}

// count reads every DUT's counters.
func (in *Instance) count(into func(*study.Observation) *testbed.Counters) error {
	for _, s := range in.Shares {
		if s.Counters == nil {
			continue
		}
		c, err := s.Counters()
		if err != nil {
			return fmt.Errorf("read the DUT's counters: %w", err)
		}
		*into(&s.Observed) = c
	}
	return nil
}

// Watched counts the frames dropped in every DUT while do runs, by the counters of its arm.
func (in *Instance) Watched(do func() error, read func(testbed.Arm) (drop.Counters, error)) (err error) {
	watches := make([]*dropWatch, len(in.Shares))
	for i, s := range in.Shares {
		if watches[i], err = watchDrops(func() (drop.Counters, error) { return read(s.Arm) }); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	for i, s := range in.Shares {
		if err = watches[i].into(&s.Observed); err != nil {
			return err
		}
	}
	return nil
}

// Round calls do for every arm that still takes part, in random order. A
// failure ends that arm's participation only.
func (in *Instance) Round(ctx context.Context, do func(lane int) error) error {
	for _, lane := range in.rng.Perm(len(in.Shares)) {
		if s := in.Shares[lane]; !s.Done {
			s.Failed = do(lane)
			s.Done = s.Done || s.Failed != nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// raise brings up the available arms, in random order.
func (u *Setup) raise(ctx context.Context, slot study.Slot) (*Instance, error) {
	task := u.Task()
	in := &Instance{Setup: u, how: u.interleaves(), gone: map[string]string{}}
	in.raw = study.Instance{Part: u.Part.Name, Block: slot.Block, Attempt: study.Attempts(task.Done, slot.Block) + 1, Control: task.Spec.Control}
	in.rng = rand.New(rand.NewPCG(task.Seed, uint64(slot.Block)<<16|uint64(in.raw.Attempt)))
	wanted := in.wanted(task)
	arms, err := u.Bed.(testbed.Multi).Raise(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for i, a := range arms {
		name := wanted[i].Name
		if a.Unavailable != nil {
			in.gone[name] = a.Unavailable.Error()
			continue
		}
		s := &Share{Arm: a, Lane: lab.Lane{Name: name, Observed: study.Observation{Load1: u.Machine.Load1(), Applied: a.Applied,
			Interleaved: &study.Interleaved{How: in.how, Attempt: in.raw.Attempt, Lane: len(in.Shares)}}}}
		in.raw.Arms, in.Shares = append(in.raw.Arms, name), append(in.Shares, s)
	}
	return in, nil
}

// wanted returns the arms to try, in random order: arms known to be
// unavailable are requested once, and those that the run forbids never.
func (in *Instance) wanted(task lab.Task) (wanted []testbed.Settings) {
	known := map[string]bool{}
	for _, t := range task.Done {
		known[t.Variant] = known[t.Variant] || t.Unavailable != ""
	}
	names, cost := task.Spec.Arms(), in.Part.Mode == testbed.Cost
	if cost {
		names = append(names, study.BypassLane)
	}
	in.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if known[name] {
			continue
		}
		v, _ := task.Spec.Variant(name)
		if why := in.Here().Why(v); why != "" {
			in.gone[name] = why
			continue
		}
		w := testbed.Settings{Name: name, Bypass: name == study.BypassLane, Settings: v.Apply()}
		if in.how == study.Alternating && cost {
			w.Settings = v.ApplyLocal()
		}
		wanted = append(wanted, w)
	}
	return wanted
}

// OwnChains is an instance in which every arm has its own generator and receiver.
type OwnChains struct {
	*Instance
	Chains []*Chain // by lane
}

// Open loads the chains.
func (w *OwnChains) Open() error {
	for _, s := range w.Shares {
		c, err := w.Chain([]testbed.Way{{Generator: s.Generator, Receiver: s.Receiver}}, s.Thread)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		w.Chains = append(w.Chains, c)
	}
	return nil
}

// Account implements Way: each arm's results are already in its share.
func (w *OwnChains) Account() error { return nil }

// Close implements Way.
func (w *OwnChains) Close() {
	for _, c := range w.Chains {
		c.Close()
	}
}
