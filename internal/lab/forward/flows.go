package forward

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Flows runs parts in which each flow through one DUT draws its arm.
type Flows struct{ *Runner }

// Kind implements lab.Runner.
func (Flows) Kind() study.Kind { return study.KindFlows }

// Up implements lab.Runner: one CPU does everything, so that a train is forwarded before the next is made.
func (f Flows) Up(ctx context.Context, _ testbed.Mode) (lab.Bed, error) {
	return f.Runner.Up(ctx, testbed.Cost)
}

// Run implements lab.Runner: it runs one window, with a trial for each arm.
func (f Flows) Run(ctx context.Context, s *lab.Session, slot study.Slot, part study.Part) ([]study.Trial, error) {
	u := f.setup(s, part)
	task := s.Task()
	toss := study.TossOf(&task.Spec, part, task.Seed, slot.Block, len(s.Block(slot.Block)))
	o := study.Observation{Load1: u.Machine.Load1()}
	applied, err := u.Bed.Reset(ctx, toss.Treated.Apply())
	var un *testbed.ErrUnavailable
	if errors.As(err, &un) {
		return []study.Trial{lab.Unavailable(lab.Trial(study.Slot{Part: part.Name, Block: slot.Block, Order: slot.Order, Variant: toss.Treated.Name}, part), un.Reason)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load the ruleset with its coin: %w", err)
	}
	o.Applied = applied
	way := u.Bed.DUT().Way
	arms, failed, err := u.window(ctx, way, toss, &o)
	if err != nil {
		return nil, err
	}
	var trials []study.Trial
	slot.Order, slot.Retry = u.Last(slot.Block), slot.Retry || u.Last(slot.Block) > 0
	for _, slot.Variant = range task.Spec.Arms() {
		slot.Order++
		own := o
		own.Connections = arms[slot.Variant]
		trials = append(trials, u.Judge(lab.Trial(slot, part), part, &own, failed))
	}
	return study.OneWindow(trials), nil
}

// window sends the traffic through the DUT and sorts the flows into arms.
func (u *Setup) window(ctx context.Context, way testbed.Way, toss study.Toss, o *study.Observation) (arms map[string]*study.Connections, failed, err error) {
	offer, err := study.OfferOf(u.Part, u.Part.Seconds)
	if err != nil {
		return nil, nil, err
	}
	ends := study.Endpoints{From: way.Generator, To: way.Receiver}
	traffic, err := study.Traffic(u.Spec(), u.Part, ends, ends)
	if err != nil {
		return nil, nil, err
	}
	c, err := u.Chain([]testbed.Way{way}, 0)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	run, failed := c.Run(ctx, offer, u.Part.Warmup, nil)
	o.Sent, o.Received, o.Contention = run.Sent, run.Received, run.Contention.Seconds()
	if failed == nil && run.Received.RxPackets > 0 && len(run.Received.Flows) == 0 {
		err = hint.With(fmt.Errorf("engine %s keeps no account of single flows", run.Received.Engine), "run the study as root: engine %s does", "xdp")
	}
	return toss.Flows(traffic.Flows, run.Received.Flows), failed, err
}
