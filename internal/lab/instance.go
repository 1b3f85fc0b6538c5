package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"

	"linerate/internal/load"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// instance is one block of an interleaved part: all arms up at once, made anew
// in random order, taking turns.
type instance struct {
	study.Instance
	how   study.Interleaving
	first int           // place in the block of the first arm made
	arms  []testbed.Arm // by lane
	gone  map[string]string
	plan  load.SlicePlan
}

// interleaves reports how a part's trials run here: what the study allows, if
// testbed and engine can.
func (r *run) interleaves(part study.Part) study.Interleaving {
	_, many := r.bed.(testbed.Multi)
	_, turns := r.Engine.(load.Interleaver)
	how := r.task.Spec.Interleaving(part)
	if !many || !turns && part.Mode == testbed.Cost {
		return study.InSequence
	}
	if part.Mode == testbed.Overload {
		return how
	}
	if how == study.Alternating && !r.AllowHost {
		return study.BySlices // the variants that need it are unavailable
	}
	return how
}

// instance runs a block of an interleaved part and hands its trials on.
func (r *run) instance(ctx context.Context, slot study.Slot, part study.Part) error {
	r.tell(slot, part, nil)
	start := r.Machine.Now()
	turns := r.turns
	switch {
	case part.Search != nil:
		turns = r.inStep
	case part.Mode == testbed.Overload:
		turns = r.inTurn
	}
	trials, err := turns(ctx, slot, part)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s, block %d: %w", part.Name, slot.Block, err)
	}
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

// turns builds the arms, sends over them in turn, and judges each.
func (r *run) turns(ctx context.Context, slot study.Slot, part study.Part) ([]study.Trial, error) {
	in, err := r.raise(ctx, slot, part, append(r.task.Spec.Arms(), study.BypassLane))
	if err != nil {
		return nil, err
	}
	in.plan = r.task.Spec.Slicing(part, in.how, r.task.Seed, in.Block, in.Attempt, len(in.arms))
	if in.how == study.Alternating {
		in.plan.Before = r.alternate(ctx, in)
	}
	o := study.Observation{Load1: r.Machine.Load1()}
	before, err := r.check(distinct(r.bed.Describe().CPUs))
	if err != nil {
		return nil, err
	}
	counted, err := in.counters()
	if err != nil {
		return nil, err
	}
	if err := r.openSlicer(in, part); err != nil {
		return nil, err
	}
	sliced, failed := r.slice(ctx, in)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	after, err := r.check(distinct(r.bed.Describe().CPUs))
	if err != nil {
		return nil, err
	}
	o.CPUs = compare(before, after)
	in.Slices = sliced.Slices
	return r.judge(in, part, o, sliced, counted, failed)
}

// counters reads every DUT's.
func (in *instance) counters() ([]testbed.Counters, error) {
	out := make([]testbed.Counters, len(in.arms))
	for i, a := range in.arms {
		if a.Counters == nil {
			continue
		}
		var err error
		if out[i], err = a.Counters(); err != nil {
			return nil, fmt.Errorf("read the DUT's counters: %w", err)
		}
	}
	return out, nil
}

// raise brings up those of the arms that can be had, in random order.
func (r *run) raise(ctx context.Context, slot study.Slot, part study.Part, names []string) (*instance, error) {
	s := &r.task.Spec
	in := &instance{how: r.interleaves(part), gone: map[string]string{}}
	in.Part, in.Block, in.Control = part.Name, slot.Block, s.Control
	in.Attempt = study.Attempts(r.task.Done, slot.Block) + 1
	known := map[string]bool{} // to be unavailable: once is enough
	for _, t := range r.task.Done {
		if t.Block == slot.Block {
			in.first = max(in.first, t.Order)
		}
		known[t.Variant] = known[t.Variant] || t.Unavailable != ""
	}
	rng := rand.New(rand.NewPCG(r.task.Seed, uint64(slot.Block)<<16|uint64(in.Attempt)))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var wanted []testbed.Settings
	for _, name := range names {
		if known[name] {
			continue
		}
		v, _ := s.Variant(name)
		if why := r.forbids(v); why != "" {
			in.gone[name] = why
			continue
		}
		w := testbed.Settings{Name: name, Bypass: name == study.BypassLane}
		if !w.Bypass {
			w.Settings = v.Apply()
			if in.how == study.Alternating {
				w.Settings = v.ApplyLocal()
			}
		}
		wanted = append(wanted, w)
	}
	arms, err := r.bed.(testbed.Multi).Raise(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for i, a := range arms {
		if a.Unavailable != nil {
			in.gone[wanted[i].Name] = a.Unavailable.Error()
			continue
		}
		in.Arms, in.arms = append(in.Arms, wanted[i].Name), append(in.arms, a)
	}
	return in, nil
}

// alternate gives the kernel the global settings of the arm whose slice comes
// next.
func (r *run) alternate(ctx context.Context, in *instance) func(int) error {
	global := make([][]setting.Setting, len(in.Arms))
	for i, name := range in.Arms {
		v, _ := r.task.Spec.Variant(name)
		global[i] = v.ApplyGlobal()
	}
	return func(lane int) error { return r.bed.(testbed.Multi).Global(ctx, global[lane]) }
}

// slice sends over the arms in turn.
func (r *run) slice(ctx context.Context, in *instance) (load.Sliced, error) {
	lanes := make([]load.Lane, len(in.arms))
	for i, a := range in.arms {
		lanes[i] = load.Lane{From: a.Generator, To: a.Receiver}
	}
	return r.slicer.Run(ctx, lanes, in.plan)
}

// openSlicer loads what sends and receives; it serves all instances of a part.
func (r *run) openSlicer(in *instance, part study.Part) error {
	if r.slicer != nil && r.slicing == part.Name {
		return nil
	}
	if err := r.closeSlicer(); err != nil {
		return err
	}
	s := &r.task.Spec
	from, to := in.arms[0].Generator, in.arms[0].Receiver
	spec, err := s.Traffic(part, from, study.Endpoints{From: from, To: to})
	if err != nil {
		return err
	}
	if cpu := r.bed.Describe().CPUs.Generator; cpu >= 0 {
		spec.CPUs = []int{cpu}
	}
	made, err := r.Engine.(load.Interleaver).NewSlicer(spec, len(s.Arms())+1)
	if err != nil {
		return fmt.Errorf("prepare the traffic: %w", err)
	}
	r.slicer, r.slicing = made, part.Name
	return nil
}

func (r *run) closeSlicer() error {
	if r.slicer == nil {
		return nil
	}
	err := r.slicer.Close()
	r.slicer, r.slicing = nil, ""
	return err
}

// judge makes each arm's trial of what was observed.
func (r *run) judge(in *instance, part study.Part, o study.Observation, sliced load.Sliced, before []testbed.Counters, failed error) ([]study.Trial, error) {
	name, sum, err := r.keep(in)
	if err != nil {
		return nil, err
	}
	lanes := in.Condense()
	var trials []study.Trial
	for i, arm := range in.Arms {
		if arm == study.BypassLane {
			continue
		}
		t := r.blank(in, part, arm, i)
		own := o
		own.Applied = in.arms[i].Applied
		own.Before = before[i]
		if own.After, err = in.arms[i].Counters(); err != nil {
			return nil, fmt.Errorf("read the DUT's counters: %w", err)
		}
		own.Interleaved = &study.Interleaved{How: in.how, Attempt: in.Attempt, Lane: i, Raw: name, SHA256: sum, Lanes: lanes[i]}
		if i < len(sliced.Lanes) {
			own.Sent, own.Received = accounts(sliced, i)
		}
		t.Observed = &own
		t.Metrics, t.Reasons = study.JudgeInterleaved(r.task.Spec.Gates, own)
		if failed != nil {
			t.Reasons = append([]string{failed.Error()}, t.Reasons...)
		}
		t.Valid = len(t.Reasons) == 0
		trials = append(trials, t)
	}
	return append(trials, r.absent(in, part)...), nil
}

// absent are the trials of arms that could not be had.
func (r *run) absent(in *instance, part study.Part) (trials []study.Trial) {
	for _, arm := range r.task.Spec.Arms() {
		if why, is := in.gone[arm]; is {
			trials = append(trials, unavailable(r.blank(in, part, arm, len(in.Arms)), why))
		}
	}
	return trials
}

// blank is an arm's trial before anything is known of it.
func (r *run) blank(in *instance, part study.Part, arm string, lane int) study.Trial {
	return study.Trial{Part: part.Name, Variant: arm, Block: in.Block, Order: in.first + lane + 1, Mode: part.Mode,
		Retry: in.Attempt > 1, Reasons: []string{}, Metrics: map[string]float64{}}
}

// keep hands the raw slices on, and returns their file's name and hash.
func (r *run) keep(in *instance) (name, sum string, err error) {
	data, err := in.Encode()
	if err != nil {
		return "", "", err
	}
	hash := sha256.Sum256(data)
	if r.Keep != nil {
		if err := r.Keep(in.RawName(), data); err != nil {
			return "", "", err
		}
	}
	return in.RawName(), hex.EncodeToString(hash[:]), nil
}

// accounts are a lane's, as a generator and a receiver of its own would have
// told them.
func accounts(s load.Sliced, lane int) (load.Sent, load.Received) {
	l := s.Lanes[lane]
	sent := load.Sent{Engine: s.Engine, TxPackets: l.TxPackets, TxBytes: l.TxBytes, Seconds: s.Seconds}
	got := load.Received{Engine: s.Engine, RxPackets: l.RxPackets, RxBytes: l.RxBytes, Seconds: s.Seconds, Lost: &l.Lost,
		Duplicated: l.Duplicated, Reordered: l.Reordered, FlowsSeen: l.Flows, TxPackets: &l.TxPackets}
	return sent, got
}
