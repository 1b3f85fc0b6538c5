package hosts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"linerate/internal/apply"
	"linerate/internal/fleet"
	"linerate/internal/fleet/wedge"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/rollout"
	"linerate/internal/show"
)

// Strata maps names to facts in a host's plan; hosts can be compared only within equal values.
var Strata = map[string]func(fleet.Planned) string{
	"role":     func(p fleet.Planned) string { return p.Role },
	"hardware": func(p fleet.Planned) string { return p.Hardware },
	"site":     func(p fleet.Planned) string { return p.Site },
}

// Draw randomly assigns hosts with plans, which are in a directory, to the steps of an experiment,
// according to its terms.
func Draw(dir string, planned []fleet.Planned, steps fleet.Steps, t wedge.Trial, at time.Time) (*wedge.Trial, []fleet.WaveEvent, error) {
	for _, name := range t.Strata {
		if Strata[name] == nil {
			return nil, nil, hint.Usage(hint.Unknown("fact to compare hosts by", name, []string{"role", "hardware", "site", "none"}))
		}
	}
	var all []wedge.Host
	by := map[string]fleet.Planned{}
	for _, p := range planned {
		if p.Failure == "" && len(p.Changes) > 0 {
			by[p.Name] = p
			all = append(all, wedge.Host{Name: p.Name, Stratum: wedge.Stratum(list.Map(t.Strata, func(name string) string { return Strata[name](p) }))})
		}
	}
	ends := steps.Divide(len(all))
	t.Waves = len(ends)
	t.Hosts = slices.DeleteFunc(wedge.Draw(all, ends, t.Seed), func(h wedge.Host) bool { return h.Wave == 0 })
	list.Sort(t.Hosts, func(a, b wedge.Host) int { return cmp.Compare(a.Step(), b.Step()) })
	if err := t.Check(); err != nil {
		return nil, nil, err
	}
	if err := treated(dir, by, &t); err != nil {
		return nil, nil, err
	}
	return &t, list.Map(t.Hosts, func(h wedge.Host) fleet.WaveEvent {
		p := by[h.Name]
		return fleet.WaveEvent{Time: at, Name: p.Name, Host: p.Host, Source: p.Source, Become: p.Become, Step: h.Step(), State: fleet.WavePlanned, Digest: p.Digest}
	}), nil
}

// treated sets what the plans change on the running hosts of a trial, and what is common to all.
// Hosts whose changes need a reboot, or that have none, are not measured.
func treated(dir string, by map[string]fleet.Planned, t *wedge.Trial) error {
	hosts := map[wedge.Change]int{}
	for i, h := range t.Hosts {
		p := by[h.Name]
		made, err := ReadPlan(dir, p)
		if err != nil {
			return err
		}
		if i == 0 {
			t.On = wedge.System{OS: p.OS, Release: p.Release, Hardware: p.Hardware}
		}
		for mine, its := range map[*string]string{&t.On.OS: p.OS, &t.On.Release: p.Release, &t.On.Hardware: p.Hardware} {
			if *mine != its {
				*mine = ""
			}
		}
		changes := list.Map(list.Filter(made.Settings, func(s plan.Step) bool {
			return s.Where.Runtime && (s.Current.Value == nil || *s.Current.Value != s.Value)
		}), func(s plan.Step) wedge.Change {
			return wedge.Change{Setting: s.Title(), Before: strings.Join(strings.Fields(*cmp.Or(s.Current.Value, new(string))), " "), After: s.Value}
		})
		for _, c := range changes {
			hosts[c]++
		}
		if len(changes) == 0 {
			t.Unchanged++
		}
	}
	for c, n := range hosts {
		c.Hosts = n
		t.Changes = append(t.Changes, c)
	}
	list.Sort(t.Changes, func(a, b wedge.Change) int {
		return cmp.Or(cmp.Compare(b.Hosts, a.Hosts), cmp.Compare(a.Setting, b.Setting), cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After))
	})
	return nil
}

// conclude stores the results of an experiment so far in the ledger.
func (w *Wave) conclude(ctx context.Context, all []rollout.Host, err error) error {
	r := ledger.Rollout{Wave: w.ID, Start: w.Start, Trial: *w.Options.Measure}
	if errors.Is(err, rollout.ErrHarm) {
		r.Harm = show.Clean(err.Error())
	}
	for _, h := range all {
		if n := len(r.Trial.Periods); n > 0 && h.Step <= r.Trial.Periods[n-1].Wave && (h.State == fleet.WaveSkipped || h.State == fleet.WaveUnsettled) {
			r.Skipped++
		}
	}
	b, err := ledger.OfRollout(r)
	if errors.Is(err, ledger.ErrUnfinished) {
		return nil
	}
	if err == nil {
		_, err = w.Store.Append(context.WithoutCancel(ctx), b)
	}
	return err
}

// measure returns how the hosts of a wave are measured.
func (w *Wave) measure(by map[string]fleet.WaveEvent) *rollout.Measure {
	m := w.Measuring
	m.Trial = w.Options.Measure
	m.Keep = func(ctx context.Context) error { return w.Store.KeepWave(ctx, w.ID, w.Options) }
	m.Read = func(ctx context.Context, name string) (rollout.Reading, error) {
		e := by[name]
		r := w.remote(e).Runner(e.Source)
		defer func() { _ = r.Close() }()
		read, err := rollout.ParseMeasure(m.Trial.Metric, apply.CheckedHost{Name: name, Source: e.Source}, r.Run)
		if err != nil {
			return rollout.Reading{}, err
		}
		return read(ctx)
	}
	return &m
}

// Try reads every host's metric once, before a wave begins.
func (w *Wave) Try(ctx context.Context, stand []fleet.WaveEvent) error {
	t := w.task(stand)
	return t.Try(ctx)
}
