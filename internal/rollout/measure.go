package rollout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/fleet/wedge"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/wait"
)

// Measure makes a rollout an experiment: it measures every host before the first wave and during
// each wave, and allows the next wave only if harm is excluded.
type Measure struct {
	// Trial is the random order and the measurements so far; a resumed run adds to it.
	Trial *wedge.Trial
	// Read takes a reading on a host.
	Read func(ctx context.Context, name string) (Reading, error)
	// Keep stores the trial durably.
	Keep func(context.Context) error
	// Begins is called for each period, Power once before the first wave, Look for each look.
	Begins func(wave int, hold time.Duration)
	Power  func(text string)
	Look   func(wedge.Look)
}

// ErrHarm is returned for a rollout that ended because its plans do harm.
var ErrHarm = errors.New("the plans do harm")

// The last readings of a period's parts are used; the first parts let a change settle.
const (
	readings = 8
	parts    = readings + 2
)

// Try takes one reading on every host, so that missing metrics are found before any host is
// changed.
func (t *Task) Try(ctx context.Context) error {
	t.defaults()
	var mu sync.Mutex
	var lack []string
	_ = t.each(t.all(), func(h *Host) error {
		if _, err := t.Measure.Read(ctx, h.Name); err != nil {
			mu.Lock()
			lack = append(lack, h.Name+": "+reason(h.Name, err))
			mu.Unlock()
		}
		return nil
	})
	if len(lack) > 0 && ctx.Err() == nil {
		slices.Sort(lack)
		return hint.With(fmt.Errorf("%s without the metric, and nothing was changed: %s", show.Plural(len(lack), "host"), strings.Join(lack[:min(3, len(lack))], "; ")), "mend it, or leave them out: %s", hint.Option("limit", "PATTERN"))
	}
	return context.Cause(ctx)
}

func (t *Task) all() []*Host { return t.in(func(fleet.WaveState) bool { return true }) }

// in returns the hosts in some states.
func (t *Task) in(is func(fleet.WaveState) bool) (out []*Host) {
	for i := range t.Hosts {
		if is(t.Hosts[i].State) {
			out = append(out, &t.Hosts[i])
		}
	}
	return out
}

// baseline measures before the first wave, and stops the rollout if no wave could detect harm.
func (t *Task) baseline(ctx context.Context) error {
	m := t.Measure
	for len(m.Trial.Periods) < wedge.Baselines {
		if err := t.period(ctx, 0); err != nil {
			return err
		}
	}
	text, blind := m.Trial.Power()
	m.Power(text)
	if blind {
		return hint.With(fmt.Errorf("%w before anything was changed: %s", ErrStopped, text), "begin another with more hosts, a longer time to measure (%s) or more harm that may be (%s)", hint.Option("hold", "1h"), hint.Option("harm", "10%"))
	}
	return nil
}

// measured applies the empty changes of a wave, and measures until harm is excluded or shown.
// It returns an error if the next wave must not begin.
func (t *Task) measured(ctx context.Context, wave int) error {
	m := t.Measure
	if _, begun := m.Trial.Look(wave); !begun {
		if err := t.each(t.shams(wave), func(h *Host) error { return t.sham(ctx, h) }); err != nil {
			return err
		}
	}
	l, err := m.Trial.Pass(wave, func() error {
		if err := t.period(ctx, wave); err != nil {
			return err
		}
		if l, ok := m.Trial.Look(wave); ok {
			m.Look(l)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case l.Says == wedge.Harm:
		return fmt.Errorf("%w: %w: %s after wave %d, on %s", ErrStopped, ErrHarm, l.Effect.TextWithBounds(), wave, show.Plural(l.Treated, "host"))
	case l.Says == wedge.Wait:
		return hint.With(fmt.Errorf("%w: after wave %d harm of %s is not excluded: %s", ErrStopped, wave, m.Trial.Limit(), l.Effect.TextWithBounds()), "%s measures on; rolling the wave back takes back what hosts have", hint.Option("resume", ""))
	}
	return nil
}

// period measures every host once.
func (t *Task) period(ctx context.Context, wave int) error {
	m := t.Measure
	begin, hold := time.Now(), time.Duration(m.Trial.Hold*float64(time.Second))
	m.Begins(wave, hold)
	sums := map[string]*summed{}
	for i := range t.Hosts {
		sums[t.Hosts[i].Name] = &summed{}
	}
	for i := range readings {
		if err := wait.For(ctx, time.Until(begin.Add(hold*time.Duration(parts-readings+i+1)/parts))); err != nil {
			return context.Cause(ctx)
		}
		_ = t.each(t.all(), func(h *Host) error {
			r, err := m.Read(ctx, h.Name)
			sums[h.Name].add(r, time.Now(), err)
			return nil
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	p := wedge.Period{Wave: wave, Begin: begin}
	for _, h := range m.Trial.Hosts {
		p.Values = append(p.Values, stats.Num(sums[h.Name].value()))
	}
	if err := t.silent(wave, sums); err != nil {
		return err
	}
	m.Trial.Periods = append(m.Trial.Periods, p)
	return m.Keep(context.WithoutCancel(ctx))
}

// silent returns an error if hosts gave no reading above 0 in a period: ErrHarm if all of
// them have the plan. During a wave it ignores them if none has.
func (t *Task) silent(wave int, sums map[string]*summed) error {
	var lack []string
	had := 0
	for i := range t.Hosts {
		if h := &t.Hosts[i]; !(sums[h.Name].value() > 0) {
			lack = append(lack, h.Name+": "+sums[h.Name].lacks())
			if h.State.Has() {
				had++
			}
		}
	}
	text := fmt.Sprintf("%s without a reading above 0: %s", show.Plural(len(lack), "host"), strings.Join(lack[:min(3, len(lack))], "; "))
	switch {
	case len(lack) == 0 || wave > 0 && had == 0:
		return nil
	case wave == 0:
		return hint.With(fmt.Errorf("%w before anything was changed: %s", ErrStopped, text), "effects are in percent of the metric: measure what is above 0 on every host")
	case had == len(lack):
		return fmt.Errorf("%w: %w: since they have the plan, %s", ErrStopped, ErrHarm, text)
	}
	return fmt.Errorf("%w: %s", ErrStopped, text)
}

// summed sums up a host's readings in a period.
type summed struct {
	sum, n      float64
	first, last Reading
	from, to    time.Time
	failed      error
}

func (s *summed) add(r Reading, at time.Time, err error) {
	if err != nil {
		s.failed = err
		return
	}
	if s.n == 0 || r.Value < s.last.Value && r.Counter { // a counter that was reset starts again
		s.first, s.from = r, at
	}
	s.sum, s.n, s.last, s.to = s.sum+r.Value, s.n+1, r, at
}

// value returns the mean of the readings or, for a counter, its rate per second; NaN without readings.
func (s *summed) value() float64 {
	switch {
	case s.n == 0:
		return math.NaN()
	case s.last.Counter:
		return (s.last.Value - s.first.Value) / s.to.Sub(s.from).Seconds()
	}
	return s.sum / s.n
}

func (s *summed) lacks() string {
	if s.n == 0 && s.failed != nil {
		return oneLine(s.failed.Error())
	}
	return show.Value(s.value())
}
