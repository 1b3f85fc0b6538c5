package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/apply"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/rollout"
)

// Wave applies the plans of a directory in waves, and rolls them back.
type Wave struct {
	fleet.Wave
	Remote Remote
	Store  ledger.Store
	Say    func(rollout.Progress)
	// Measuring holds the callbacks of a wave that is an experiment.
	Measuring rollout.Measure
	// DryRun reads every host but changes none.
	DryRun func(name string, t apply.Transaction)
}

// Divide assigns hosts with plans to steps, in order; it leaves out hosts after the last step, and
// hosts without changes.
func Divide(planned []fleet.Planned, steps fleet.Steps, at time.Time) (events []fleet.WaveEvent) {
	todo := list.Filter(planned, func(p fleet.Planned) bool { return p.Failure == "" && len(p.Changes) > 0 })
	ends := steps.Divide(len(todo))
	for i, p := range todo {
		if step := fleet.StepOf(ends, i); step > 0 {
			events = append(events, fleet.WaveEvent{Time: at, Name: p.Name, Host: p.Host, Source: p.Source, Become: p.Become, Step: step, State: fleet.WavePlanned, Digest: p.Digest})
		}
	}
	return events
}

// Run applies the plans to hosts in the given state, sorted by step. The wave is already in the
// store, unless it is a dry run.
func (w *Wave) Run(ctx context.Context, stand []fleet.WaveEvent) (ended error) {
	steps := w.task(stand)
	planned, err := ReadPlans(w.From)
	if err != nil {
		return err
	}
	files := map[string]fleet.Planned{}
	for _, p := range planned {
		files[p.Name] = p
	}
	for i := range steps.Hosts {
		p := files[steps.Hosts[i].Name]
		steps.Hosts[i].Plan = func() (plan.Plan, error) {
			if p.File == "" {
				return plan.Plan{}, hint.With(errors.New("its plan no longer exists"), "begin a wave with the plans as they are now")
			}
			return ReadPlan(w.From, p)
		}
	}
	if steps.Skip, err = fleet.ParsePart(w.Options.Skip); err != nil {
		return err
	}
	if w.DryRun != nil {
		return rollout.Look(ctx, steps, w.DryRun)
	}
	unlock, err := alone(w.From)
	if err != nil {
		return err
	}
	defer unlock()
	err = rollout.Run(ctx, steps)
	if w.Options.Measure != nil {
		defer func() { ended = errors.Join(ended, w.conclude(ctx, steps.Hosts, err)) }()
	}
	if errors.Is(err, rollout.ErrHarm) && !slices.ContainsFunc(steps.Hosts, func(h rollout.Host) bool { return h.State.Has() || h.State.InFlight() }) {
		return errors.Join(err, w.Store.EndWave(context.WithoutCancel(ctx), w.ID, time.Now(), fleet.WaveUndone, err.Error()))
	}
	return w.end(ctx, err, fleet.WaveDone)
}

// Rollback restores the given hosts to their state before the wave.
func (w *Wave) Rollback(ctx context.Context, stand []fleet.WaveEvent, force bool) error {
	return w.end(ctx, rollout.Rollback(ctx, w.task(stand), force), fleet.WaveUndone)
}

// end records the outcome, even if the context has ended.
func (w *Wave) end(ctx context.Context, err error, well fleet.WaveOutcome) error {
	outcome, reason := well, ""
	switch {
	case ctx.Err() != nil && err != nil:
		outcome, reason = fleet.WaveBroken, "by whoever ran it"
	case err != nil:
		outcome, reason = fleet.WaveStopped, err.Error()
	}
	return errors.Join(err, w.Store.EndWave(context.WithoutCancel(ctx), w.ID, time.Now(), outcome, reason))
}

// seconds converts a recorded time.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (w *Wave) task(stand []fleet.WaveEvent) rollout.Task {
	o := w.Options
	by := map[string]fleet.WaveEvent{}
	t := rollout.Task{
		Options: rollout.Options{Parallel: o.Parallel, Soak: seconds(o.Soak), Apply: apply.Options{Within: seconds(o.Within), Chosen: o.Chosen, CheckTries: o.Tries}},
		Say:     w.Say,
		Note: func(ctx context.Context, events ...fleet.WaveEvent) error {
			return w.Store.NoteWave(ctx, w.ID, events...)
		},
		Reach: func(name string) (apply.Machine, func() error, error) {
			r := w.remote(by[name]).Runner(by[name].Source)
			return apply.On(r), r.Close, nil
		},
		Harms: func(name string) func(context.Context, plan.Plan) ([]string, error) {
			remote := w.remote(by[name])
			return remote.Harms(by[name].Source)
		},
		Checks: func(name string) ([]apply.Check, error) {
			remote := w.remote(by[name])
			checks := []apply.Check{remote.Fresh(by[name].Source)}
			for _, text := range o.Checks {
				c, err := apply.ParseCheck(text, apply.CheckedHost{Name: name, Source: by[name].Source}, seconds(o.Timeout))
				if err != nil {
					return nil, err
				}
				checks = append(checks, c)
			}
			return checks, nil
		},
	}
	for _, e := range stand {
		by[e.Name] = e
		t.Hosts = append(t.Hosts, rollout.Host{WaveEvent: e})
	}
	if o.Measure != nil {
		t.Measure = w.measure(by)
	}
	return t
}

// Reached adds to the options of a wave how its hosts are reached.
func Reached(o fleet.WaveOptions, r *Remote) (fleet.WaveOptions, error) {
	o.Become, o.SSHConfig, o.Reach = r.Become, r.Config, r.Timeout.Seconds()
	if r.Config == "" {
		return o, nil
	}
	var err error
	o.SSHConfig, err = filepath.Abs(r.Config)
	return o, err
}

// Again returns how the hosts of a resumed wave are reached: as originally, except for the flags
// that changed reports.
func Again(o fleet.WaveOptions, r Remote, changed func(flag string) bool) Remote {
	if !changed("become") {
		r.Become = o.Become
	}
	if !changed("ssh-config") {
		r.Config = o.SSHConfig
	}
	if !changed("timeout") && o.Reach > 0 {
		r.Timeout = seconds(o.Reach)
	}
	return r
}

func (w *Wave) remote(h fleet.WaveEvent) *Remote {
	r := w.Remote
	if h.Become != "" {
		r.Become = h.Become
	}
	return &r
}

// alone prevents a second concurrent wave of the same plans on this machine.
func alone(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the plans: %w", err)
	}
	locked := func() bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
	for tries := 20; tries > 0 && !locked(); tries-- { // a child that a killed wave had just forked has its lock until it is executed
		time.Sleep(50 * time.Millisecond)
	}
	if !locked() {
		return nil, errors.Join(hint.With(fmt.Errorf("another wave of the plans in %s is under way", dir), "linerate fleet wave lists them"), f.Close())
	}
	return func() { _ = f.Close() }, nil
}
