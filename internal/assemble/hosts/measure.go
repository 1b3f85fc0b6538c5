package hosts

import (
	"cmp"
	"context"
	"slices"
	"time"

	"linerate/internal/apply"
	"linerate/internal/fleet"
	"linerate/internal/fleet/wedge"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/rollout"
)

// Strata are the facts of a host's plan by which it may be compared with its like only.
var Strata = map[string]func(fleet.Planned) string{
	"role":     func(p fleet.Planned) string { return p.Role },
	"hardware": func(p fleet.Planned) string { return p.Hardware },
	"site":     func(p fleet.Planned) string { return p.Site },
}

// Draw puts hosts with plans into the steps of an experiment, by chance, as its terms say.
func Draw(planned []fleet.Planned, steps fleet.Steps, t wedge.Trial, at time.Time) (*wedge.Trial, []fleet.WaveEvent, error) {
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
	return &t, list.Map(t.Hosts, func(h wedge.Host) fleet.WaveEvent {
		p := by[h.Name]
		return fleet.WaveEvent{Time: at, Name: p.Name, Host: p.Host, Source: p.Source, Become: p.Become, Step: h.Step(), State: fleet.WavePlanned, Digest: p.Digest}
	}), nil
}

// measure is how the hosts of a wave are measured.
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
