package live

import (
	"math"
	"time"

	"linerate/internal/study"
)

// guard is a guardrail with the value that it watches.
type guard struct {
	study.Watch
	late *study.LateWatch // of the primary metric; nil for others
	// value returns the value at a check; NaN if there is none.
	value func(at glimpse) float64
}

// glimpse is the data of one look, for the guardrails.
type glimpse struct {
	now, before Sample
	values      map[string]float64 // by metric
	treatment   string             // "" for the control
}

// passed returns how long the host ran between the two looks, in seconds; NaN for no time.
// If the host does not account its CPU time (some containers), it uses the coarser uptime.
func (g glimpse) passed() float64 {
	for _, passed := range []float64{(g.now.Passed - g.before.Passed) / float64(max(1, g.now.CPUs)), g.now.Uptime - g.before.Uptime} {
		if passed > 0 {
			return passed
		}
	}
	return math.NaN()
}

// floors keep a negligible rate from counting as "twice as much": they are added to
// a rate before it is compared with the control's.
const (
	dropsFloor  = 0.001 // of packets
	errorsFloor = 0.005 // of requests
)

// Limits of the guardrails other than the primary metric's: percent worse than the control.
const (
	twice    = 100
	fourfold = 300
)

// Bounds of the time in which the host must answer a look. Between them the limit is slowness times
// the time taken without treatment: a small or busy machine may be slow and still healthy.
const (
	leastAnswer   = 10 * time.Second
	longestAnswer = time.Minute
	slowness      = 3
)

// timeToAnswer is the guardrail whose limit follows the pilot.
const timeToAnswer = "time to answer"

// unanswered is the guardrail on looks without an answer from the host.
const unanswered = "looks without an answer"

// answered records whether the host answered a look, and returns a trip, if any.
func (g *guarding) answered(treated, yes bool) *study.Trip {
	for _, r := range g.rails {
		switch {
		case r.Name != unanswered:
		case !treated:
			r.Control(one(!yes))
		default:
			if t, trips := r.Check(one(!yes), time.Since(g.begun).Seconds()); trips {
				return &t
			}
		}
	}
	return nil
}

// answers sets how long the host may take to answer a look.
func (g *guarding) answers(limit time.Duration) {
	for _, r := range g.rails {
		if r.Name == timeToAnswer {
			r.Limit = limit.Seconds()
		}
	}
}

// guardrails returns a study's guardrails. They cannot be disabled.
func (o *Options) guardrails() []*guard {
	g := func(rail study.Guardrail, value func(glimpse) float64) *guard {
		return &guard{Watch: study.Watch{Guardrail: rail}, value: value}
	}
	rails := []*guard{
		g(study.Guardrail{Name: unanswered, InARow: true, Unit: "looks"}, func(glimpse) float64 { return math.NaN() }),
		g(study.Guardrail{Name: timeToAnswer, Limit: longestAnswer.Seconds(), Unit: "s"}, func(at glimpse) float64 { return at.now.Took.Seconds() }),
		g(study.Guardrail{Name: "memory in use", Limit: 0.97, Checks: 2, Unit: "%"}, func(at glimpse) float64 { return 1 - at.now.Available }),
		g(study.Guardrail{Name: "connection table in use", Limit: 0.97, Checks: 2, Unit: "%"}, func(at glimpse) float64 { return at.now.States }),
		g(study.Guardrail{Name: "run queue", HarmPercent: fourfold, Unit: "threads a CPU", Floor: 1}, func(at glimpse) float64 {
			return at.now.Running / float64(max(1, at.now.CPUs))
		}),
		g(study.Guardrail{Name: "CPU in use", HarmPercent: twice, Unit: "%", Floor: 0.1}, func(at glimpse) float64 {
			return ratio(at.now.Busy-at.before.Busy, at.now.Passed-at.before.Passed)
		}),
		g(study.Guardrail{Name: "dropped packets", HarmPercent: twice, Unit: "%", Floor: dropsFloor}, func(at glimpse) float64 {
			return ratio(at.now.Drops-at.before.Drops, at.now.Packets-at.before.Packets)
		}),
		// Ratios do not show the harm of traffic that no longer arrives.
		g(study.Guardrail{Name: "time between packets", HarmPercent: fourfold, Unit: "s"}, func(at glimpse) float64 {
			return at.passed() / (at.now.Packets - at.before.Packets + 1)
		}),
	}
	for i, m := range o.metrics {
		if i == 0 {
			rails = append(rails, g(study.Guardrail{Name: m.Source, HarmPercent: o.HarmPercent, Unit: m.Metric, Inverse: study.HigherIsBetter(m.Metric),
				Floor: map[string]float64{study.LogErrors: errorsFloor, study.DropsPerPacket: dropsFloor}[m.Metric]}, m.harmful()))
			rails[len(rails)-1].late = rails[len(rails)-1].Late()
		}
		if f, ok := m.from.(fallible); ok {
			rails = append(rails, g(study.Guardrail{Name: "failures of " + m.Source, HarmPercent: twice, Unit: "%", Floor: errorsFloor}, func(glimpse) float64 {
				return f.failing()
			}))
		}
		rails = append(rails, silences(m, g)...)
	}
	return rails
}

// harmful returns the guardrail value of the primary metric. It is the metric's own, except
// for a rate of requests, which a single look at a quiet server does not show.
func (m Metric) harmful() func(glimpse) float64 {
	c, ok := m.from.(counts)
	if !ok || m.Metric != study.LogRate {
		return func(at glimpse) float64 { return at.values[m.Metric] }
	}
	spaced := &study.Spaced{}
	return func(at glimpse) float64 { return 1 / spaced.Look(at.treatment, at.passed(), c.requests()) }
}

// silences returns the guardrails against a metric's source falling silent.
func silences(m Metric, g func(study.Guardrail, func(glimpse) float64) *guard) []*guard {
	c, ok := m.from.(counts)
	if !ok {
		return []*guard{g(study.NoValues(m.Source), func(at glimpse) float64 {
			return one(math.IsNaN(at.values[m.Metric]))
		})}
	}
	spaced := &study.Spaced{}
	return []*guard{
		g(study.TimeBetween(m.Source), func(at glimpse) float64 {
			return spaced.Look(at.treatment, at.passed(), c.requests())
		}),
		g(study.NoRequests(m.Source), func(glimpse) float64 {
			return one(!(c.requests() > 0))
		}),
	}
}

// one returns 1 if is holds, else 0.
func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// counts is a source that counts requests.
type counts interface {
	// requests returns the requests between the last two ticks; NaN if unknown.
	requests() float64
}

// fallible is a source whose measurements can fail: if requests fail at once under a
// setting, the remaining ones are no slower.
type fallible interface {
	// failing returns the share of failures since the tick before last; NaN without measurements.
	failing() float64
}

// guarding applies all guardrails during a study.
type guarding struct {
	rails []*guard
	begun time.Time // of the window
	arm   string    // of the window
}

// window begins a new window.
func (g *guarding) window(arm string) {
	g.begun, g.arm = time.Now(), arm
	for _, r := range g.rails {
		r.Begin(arm)
		if r.late != nil {
			r.late.Begin(arm)
		}
	}
}

// check evaluates the guardrails at a look. Control windows teach them the usual values.
func (g *guarding) check(treated bool, now, before Sample, values map[string]float64) *study.Trip {
	if before.Boot != now.Boot {
		return nil
	}
	at := glimpse{now: now, before: before, values: values}
	if treated {
		at.treatment = g.arm
	}
	for _, r := range g.rails {
		v, seconds := r.value(at), max(0, now.At.Sub(g.begun).Seconds())
		check := r.Check
		if !treated {
			if r.Control(v); r.late == nil {
				continue
			}
			check = r.late.Check
		}
		if t, trips := check(v, seconds); trips {
			return &t
		}
	}
	return nil
}

// beyond returns the first absolute guardrail that is exceeded without any
// treatment.
func (g *guarding) beyond(now Sample) (study.Guardrail, float64, bool) {
	for _, r := range g.rails {
		if r.HarmPercent > 0 || r.InARow {
			continue
		}
		if v := r.value(glimpse{now: now, before: now}); v > r.Limit {
			return r.Guardrail, v, true
		}
	}
	return study.Guardrail{}, 0, false
}

// nearest returns the closest approach of each guardrail in the window.
func (g *guarding) nearest() map[string]study.Nearest {
	out := map[string]study.Nearest{}
	for _, r := range g.rails {
		if r.Nearest != (study.Nearest{}) {
			out[r.Name] = r.Nearest
		}
	}
	return out
}
