// Package rollout applies plans to the hosts of a fleet, step by step. Each host is
// changed by package apply, with its own journal and revert timer, so that hosts revert by
// themselves whatever happens to this process. Hosts are changed in groups, in parallel; a
// group is confirmed as a whole when all its hosts passed. The first failure stops the
// wave and reverts what is unconfirmed. The package knows neither how hosts are reached
// nor where events are stored.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"linerate/internal/wait"

	"linerate/internal/apply"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/show"
)

// Host is a host to change, or to restore.
type Host struct {
	fleet.WaveEvent // state: name, machine, step, digest of the plan
	// Plan returns the plan.
	Plan func() (plan.Plan, error)
}

// Options are the options of a wave.
type Options struct {
	Parallel int           // hosts in a group; 0: 50
	Skip     fleet.Part    // how many hosts of a step may be skipped, rounded down
	Soak     time.Duration // between the change of a group and its confirmation; the checks are repeated after it
	Apply    apply.Options // Within, Chosen, CheckTries
	// Tries is the number of attempts to reach a host before it is skipped; 0: 3. Pause is between them; 0: 2 s.
	Tries int
	Pause time.Duration
}

// Task describes a rollout.
type Task struct {
	Options
	// Hosts are ordered by step.
	Hosts []Host
	// Reach returns the machine of a host, and a function that closes it.
	Reach func(name string) (apply.Machine, func() error, error)
	// Harms, unless nil, returns apply's check for harm on a host.
	Harms func(name string) func(context.Context, plan.Plan) ([]string, error)
	// Checks returns the checks of a host, in addition to apply's own.
	Checks func(name string) ([]apply.Check, error)
	// Note stores events; when it returns they are durable. It must be safe for concurrent use.
	Note func(context.Context, ...fleet.WaveEvent) error
	// Say is called for each stored event and each step; it must be safe for concurrent use.
	Say func(Progress)
	// Measure, unless nil, makes the rollout an experiment.
	Measure *Measure

	dry bool // change nothing
}

// Progress reports an event of a host or, if Host.Name is "", the start of a step.
type Progress struct {
	Host        fleet.WaveEvent
	Step, Steps int
	Hosts       int // in the step that begins
}

// ErrStopped is returned for a wave that stopped by itself.
var ErrStopped = errors.New("the wave is stopped")

// answerIn is how long a host may take to report its status.
const answerIn = 30 * time.Second

func (t *Task) defaults() {
	if t.Parallel <= 0 {
		t.Parallel = 50
	}
	if t.Tries <= 0 {
		t.Tries = 3
	}
	if t.Pause <= 0 {
		t.Pause = 2 * time.Second
	}
}

// note stores the present state of a host, even if the caller's context is done, because
// the event has happened.
func (t *Task) note(h *Host, state fleet.WaveState, text string) error {
	h.State, h.Text, h.Time = state, show.Clean(text), time.Now()
	if state == fleet.WaveApplying {
		h.Transaction = ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	if err := t.Note(ctx, h.WaveEvent); err != nil {
		return fmt.Errorf("note what became of %s: %w", h.Name, err)
	}
	t.say(Progress{Host: h.WaveEvent})
	return nil
}

func (t *Task) say(p Progress) {
	if t.Say != nil {
		t.Say(p)
	}
}

// Run runs the steps. It skips hosts that already have the plan, and first settles those that
// another run of the wave left unfinished. If the wave did not complete, the error wraps
// ErrStopped, or is that of the context.
func Run(ctx context.Context, t Task) error {
	t.defaults()
	if err := t.settle(ctx); err != nil {
		return err
	}
	err := t.steps(ctx)
	if errors.Is(err, ErrHarm) {
		err = hint.With(errors.Join(err, Rollback(context.WithoutCancel(ctx), t, false)), "hosts that had their plans were rolled back: linerate fleet wave shows each")
	}
	return err
}

func (t *Task) steps(ctx context.Context) error {
	last := 0
	for _, h := range t.Hosts {
		last = max(last, h.Step)
	}
	if t.Measure != nil {
		if err := t.baseline(ctx); err != nil {
			return err
		}
	}
	for step := 1; step <= last; step++ {
		if err := t.step(ctx, step, last); err != nil {
			return err
		}
		if t.Measure != nil && step <= t.Measure.Trial.Waves {
			if err := t.measured(ctx, step); err != nil {
				return err
			}
		}
	}
	return nil
}

// step changes the hosts of one step, one group at a time.
func (t *Task) step(ctx context.Context, step, steps int) error {
	var todo []*Host
	all := 0
	for i := range t.Hosts {
		if h := &t.Hosts[i]; h.Step == step {
			all++
			if h.State.Open() {
				todo = append(todo, h)
			}
		}
	}
	if len(todo) == 0 {
		return nil
	}
	t.say(Progress{Step: step, Steps: steps, Hosts: len(todo)})
	skipped := 0
	for len(todo) > 0 {
		group := todo[:min(t.Parallel, len(todo))]
		todo = todo[len(group):]
		if err := t.group(ctx, group); err != nil {
			return err
		}
		skipped += list.Count(group, func(h *Host) bool { return h.State == fleet.WaveSkipped || h.State == fleet.WaveUnsettled })
		if may := t.Skip.Of(all, false); skipped > may {
			return hint.With(fmt.Errorf("%w: %s of step %d skipped, and %d may be", ErrStopped, show.Plural(skipped, "host"), step, may),
				"fix the cause, or leave them out; %s allows more to be skipped", hint.Option("max-skipped", "20%"))
		}
	}
	return nil
}

// group changes hosts in parallel, and confirms them when all have passed.
func (t *Task) group(ctx context.Context, group []*Host) error {
	inside, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	err := t.each(group, func(h *Host) error {
		err := t.change(inside, h)
		if err != nil {
			fail(fmt.Errorf("%s failed: %w", h.Name, err))
		}
		return err
	})
	if err == nil {
		err = t.soak(inside, group)
	}
	if err == nil {
		err = context.Cause(inside)
	}
	if err == nil {
		err = t.each(pendingOf(group), func(h *Host) error { return t.confirm(ctx, h) })
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return errors.Join(err, t.back(group, err))
	}
	return nil
}

func pendingOf(group []*Host) (out []*Host) {
	return list.Filter(group, func(h *Host) bool { return h.State == fleet.WavePending })
}

// each calls do for hosts in parallel, and returns the first error.
func (t *Task) each(hosts []*Host, do func(*Host) error) error {
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	slots := make(chan struct{}, t.Parallel)
	for _, h := range hosts {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := do(h); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	wg.Wait()
	return first
}

// look reaches a host and reads its status, with retries.
func (t *Task) look(ctx context.Context, name string) (m apply.Machine, st apply.Status, done func() error, err error) {
	for try := range t.Tries {
		if try > 0 {
			if wait.For(ctx, t.Pause) != nil {
				return nil, st, nil, context.Cause(ctx)
			}
		}
		if m, done, err = t.Reach(name); err != nil {
			return nil, st, nil, err
		}
		asking, cancel := context.WithTimeoutCause(ctx, answerIn, fmt.Errorf("no answer in %v", answerIn))
		st, err = m.Status(asking)
		cancel()
		if err == nil {
			return m, st, done, nil
		}
		_ = done()
	}
	return nil, st, nil, err
}

// change applies the plan to one host, which is then pending. It returns an error if the
// host was changed and had to be reverted, or if the state cannot be stored; hosts that
// were not changed are skipped.
func (t *Task) change(ctx context.Context, h *Host) error {
	if ctx.Err() != nil {
		return nil // unchanged: another host failed, or somebody stopped the wave
	}
	skip := func(err error) error {
		if ctx.Err() != nil {
			return nil
		}
		return t.note(h, fleet.WaveSkipped, reason(h.Name, err))
	}
	m, st, done, err := t.look(ctx, h.Name)
	if err != nil {
		return skip(fmt.Errorf("not reached: %w", err))
	}
	defer func() { _ = done() }()
	if err := st.Free(h.Host); err != nil {
		return skip(err)
	}
	p, err := t.planOf(h)
	if err != nil {
		return skip(err)
	}
	checks, err := t.Checks(h.Name)
	if err != nil {
		return skip(err)
	}
	o := t.Apply
	o.Checks = checks
	if t.Harms != nil {
		o.Harms = t.Harms(h.Name)
	}
	o.Ask = func(apply.Transaction) (bool, error) {
		if t.dry {
			return true, nil
		}
		return true, t.note(h, fleet.WaveApplying, "")
	}
	o.Began = func(id string) { h.Transaction = id }
	outcome, err := apply.Run(ctx, m, p, o)
	switch {
	case err == nil && outcome == apply.Pending:
		return t.note(h, fleet.WavePending, "")
	case err == nil && outcome == apply.Planned:
		return nil
	case err == nil:
		return t.note(h, fleet.WaveNothing, "")
	case outcome == apply.Reverted:
		return errors.Join(fmt.Errorf("%w: %s: %w", ErrStopped, h.Name, err), t.returned(h, err))
	case outcome == apply.Declined:
		return err // it could not be stored
	}
	return skip(err)
}

func (t *Task) planOf(h *Host) (plan.Plan, error) {
	p, err := h.Plan()
	if err == nil && p.Digest != h.Digest {
		err = hint.With(errors.New("the plan's file has changed since the wave began"), "begin a wave with the plans as they are now")
	}
	return p, err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// reason formats an error on one line, to follow a host's name.
func reason(name string, err error) string {
	text := oneLine(err.Error())
	if h := hint.Of(err); h != "" {
		text += " (" + h + ")"
	}
	return text
}

// returned checks whether a changed host has been restored, and records the result.
func (t *Task) returned(h *Host, why error) error {
	if errors.Is(why, apply.ErrReverted) {
		return t.note(h, fleet.WaveReverted, reason(h.Name, why))
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	_, st, done, err := t.look(ctx, h.Name)
	if err == nil {
		defer func() { _ = done() }()
	}
	if err == nil && st.State == "idle" {
		return t.note(h, fleet.WaveReverted, reason(h.Name, why))
	}
	return t.note(h, fleet.WaveUnsettled, "its own switch reverts it: "+reason(h.Name, why))
}

// soak waits, then repeats the checks of pending hosts.
func (t *Task) soak(ctx context.Context, group []*Host) error {
	if t.Soak <= 0 || len(pendingOf(group)) == 0 {
		return nil
	}
	if wait.For(ctx, t.Soak) != nil {
		return context.Cause(ctx)
	}
	return t.each(pendingOf(group), func(h *Host) error {
		checks, err := t.Checks(h.Name)
		for _, c := range checks {
			if err == nil {
				if err = c.Do(ctx); err != nil {
					err = fmt.Errorf("%w: %s: check %s after the soak: %w", ErrStopped, h.Name, c.Name, err)
				}
			}
		}
		return err
	})
}

// confirm confirms a host's change, over a separate connection.
func (t *Task) confirm(ctx context.Context, h *Host) error {
	m, done, err := t.Reach(h.Name)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	ctx, cancel := context.WithTimeoutCause(ctx, 2*answerIn, fmt.Errorf("no answer in %v", 2*answerIn))
	defer cancel()
	if _, err := m.Confirm(ctx, h.Digest); err != nil {
		return fmt.Errorf("%w: %s could not be confirmed: %w", ErrStopped, h.Name, err)
	}
	return t.note(h, fleet.WaveConfirmed, "")
}

// back reverts the pending hosts of a group at once. A host that cannot be reached
// reverts by its own timer.
func (t *Task) back(group []*Host, why error) error {
	return t.each(pendingOf(group), func(h *Host) error {
		m, done, err := t.Reach(h.Name)
		if err != nil {
			return t.note(h, fleet.WaveUnsettled, "its own switch reverts it: "+reason(h.Name, err))
		}
		defer func() { _ = done() }()
		err = apply.TakeBack(m, t.Apply, h.Transaction, errors.New(oneLine(why.Error())))
		if errors.Is(err, apply.ErrReverted) {
			return t.note(h, fleet.WaveReverted, reason(h.Name, err))
		}
		return t.settleOne(context.Background(), h)
	})
}
