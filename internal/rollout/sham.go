package rollout

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/apply"
	"linerate/internal/fleet"
	"linerate/internal/list"
	"linerate/internal/plan"
)

// shams returns the hosts that get an empty change in a wave.
func (t *Task) shams(wave int) []*Host {
	sham := map[string]bool{}
	for _, h := range t.Measure.Trial.Hosts {
		sham[h.Name] = h.Sham && h.Wave == wave
	}
	return list.Filter(t.all(), func(h *Host) bool { return sham[h.Name] && h.State == fleet.WavePlanned })
}

// sham applies an empty change to a host in the same way as a real one: it sets the plan's
// settings to their present values, checks them, and reverts.
func (t *Task) sham(ctx context.Context, h *Host) error {
	m, _, done, err := t.look(ctx, h.Name)
	if err != nil {
		return t.note(h, fleet.WavePlanned, "no empty change: "+reason(h.Name, err))
	}
	defer func() { _ = done() }()
	id := ""
	outcome, err := t.emptyOn(ctx, m, h, &id)
	switch {
	case outcome == apply.Pending:
		if err := apply.TakeBack(m, t.Apply, id, errors.New("an empty change")); !errors.Is(err, apply.ErrReverted) {
			return fmt.Errorf("%w: %s: %w", ErrStopped, h.Name, err)
		}
		return t.note(h, fleet.WavePlanned, "had an empty change")
	case outcome == apply.Reverted:
		return fmt.Errorf("%w: %s fails after an empty change: %w", ErrStopped, h.Name, err)
	case err != nil && ctx.Err() == nil:
		return t.note(h, fleet.WavePlanned, "no empty change: "+reason(h.Name, err))
	}
	return context.Cause(ctx)
}

func (t *Task) emptyOn(ctx context.Context, m apply.Machine, h *Host, id *string) (apply.Outcome, error) {
	p, err := t.planOf(h)
	if err == nil {
		p, err = empty(p)
	}
	if err == nil { // left by a run that died
		_, _, err = apply.Settle(ctx, m, p.Digest, "")
	}
	o := t.Apply
	o.Began = func(began string) { *id = began }
	if err == nil {
		o.Checks, err = t.Checks(h.Name)
	}
	if err != nil {
		return apply.Nothing, err
	}
	return apply.Run(ctx, m, p, o)
}

// empty returns a plan that sets each setting to its running value.
func empty(p plan.Plan) (plan.Plan, error) {
	var same []plan.Step
	for _, s := range p.Settings {
		if s.Where.Runtime && s.Current.Value != nil {
			s.Value, s.Where, s.Instead = *s.Current.Value, plan.Where{Runtime: true}, nil
			same = append(same, s)
		}
	}
	p.Settings, p.Remove = same, nil
	return plan.Seal(p)
}
