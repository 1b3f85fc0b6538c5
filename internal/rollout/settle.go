package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"linerate/internal/apply"
	"linerate/internal/fleet"
)

// settle cleans up after a run that died: it reverts pending changes, and records
// confirmed ones.
func (t *Task) settle(ctx context.Context) error {
	if err := t.each(t.in(fleet.WaveState.InFlight), func(h *Host) error { return t.settleOne(ctx, h) }); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// settleIn bounds the time to settle one host.
const settleIn = 2 * time.Minute

func (t *Task) settleOne(ctx context.Context, h *Host) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleIn, fmt.Errorf("not settled in %v", settleIn))
	defer cancel()
	unsettled := func(err error) error {
		return t.note(h, fleet.WaveUnsettled, "its own switch reverts what is not confirmed: "+reason(h.Name, err))
	}
	m, _, done, err := t.look(ctx, h.Name)
	if err != nil {
		return unsettled(err)
	}
	defer func() { _ = done() }()
	past, outcome, err := apply.Settle(ctx, m, h.Digest, h.Transaction)
	if err != nil {
		return unsettled(err)
	}
	if past.ID != "" {
		h.Transaction = past.ID
	}
	switch outcome {
	case apply.Confirmed:
		return t.note(h, fleet.WaveConfirmed, "")
	case apply.Reverted:
		return t.note(h, fleet.WaveReverted, past.Why)
	}
	return t.note(h, fleet.WavePlanned, "nothing was changed")
}

// Rollback restores every host of a wave, whether pending or confirmed. It leaves hosts alone
// that somebody has changed since, unless force is set, and records that. The error says how
// many hosts are not restored.
func Rollback(ctx context.Context, t Task, force bool) error {
	t.defaults()
	if err := t.settle(ctx); err != nil {
		return err
	}
	has := t.in(fleet.WaveState.Has)
	t.say(Progress{Step: 1, Steps: 1, Hosts: len(has)})
	err := t.each(has, func(h *Host) error { return t.rollBack(ctx, h, force) })
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// rollBack restores one host. It records why that failed; an error means that the state
// cannot be stored.
func (t *Task) rollBack(ctx context.Context, h *Host, force bool) error {
	if ctx.Err() != nil {
		return nil
	}
	m, st, done, err := t.look(ctx, h.Name)
	if err != nil {
		return t.note(h, fleet.WaveConfirmed, "not rolled back: not reached: "+reason(h.Name, err))
	}
	defer func() { _ = done() }()
	if err := st.Free(h.Host); err != nil {
		return t.note(h, fleet.WaveConfirmed, "not rolled back: "+reason(h.Name, err))
	}
	last, ok := st.Current()
	switch {
	case !ok || !knows(st, h.Transaction):
		return t.note(h, fleet.WaveRolledBack, "it was rolled back before, by other hands")
	case last.ID != h.Transaction && !force:
		return t.note(h, fleet.WaveChanged, fmt.Sprintf("%s was confirmed after it", last.ID))
	}
	err = apply.RollBack(ctx, m, st, h.Transaction, force, func(string) {})
	switch {
	case err == nil:
		return t.note(h, fleet.WaveRolledBack, "")
	case errors.Is(err, apply.ErrChangedSince):
		return t.note(h, fleet.WaveChanged, err.Error())
	}
	return t.note(h, fleet.WaveConfirmed, "not rolled back: "+reason(h.Name, err))
}

// knows reports whether a transaction is confirmed and in force.
func knows(st apply.Status, id string) bool {
	return slices.ContainsFunc(st.History, func(p apply.Past) bool { return p.ID == id && p.Outcome == string(apply.Confirmed) })
}

// Look checks for every host whether its plan could be applied now, and changes nothing: it
// calls would for what would be done, and Say for hosts that would be skipped.
func Look(ctx context.Context, t Task, would func(name string, tr apply.Transaction)) error {
	t.defaults()
	t.Note = func(context.Context, ...fleet.WaveEvent) error { return nil }
	reach := t.Reach
	t.Reach = func(name string) (apply.Machine, func() error, error) {
		m, done, err := reach(name)
		if err != nil {
			return nil, nil, err
		}
		return apply.DryRun(m, func(tr apply.Transaction) { would(name, tr) }), done, nil
	}
	t.dry = true
	if err := t.each(t.in(fleet.WaveState.Open), func(h *Host) error { return t.change(ctx, h) }); err != nil {
		return err
	}
	return context.Cause(ctx)
}
