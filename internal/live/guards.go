package live

import (
	"math"
	"time"

	"linerate/internal/study/switchback"
)

// guard is a guardrail and what it watches.
type guard struct {
	switchback.Watch
	// value of a check; values are per metric. NaN: nothing to see.
	value func(now, before Sample, values map[string]float64) float64
}

// floors keep a rate of next to nothing from being "twice as much": what is added to
// it before it is compared with the control's.
const (
	dropsFloor  = 0.001 // of packets
	errorsFloor = 0.005 // of requests
)

// What harm is, beside the primary metric's: percent beyond the control's.
const (
	twice    = 100
	fourfold = 300
)

// Bounds of how long the host may take for one look. In between it is slowness times
// what it took without a treatment: a small or busy machine is slow, and no less well.
const (
	leastAnswer   = 10 * time.Second
	longestAnswer = time.Minute
	slowness      = 3
)

// timeToAnswer is the guardrail whose limit follows what the pilot saw.
const timeToAnswer = "time to answer"

// answers sets how long the host may take for one look.
func (g *guarding) answers(limit time.Duration) {
	for _, r := range g.rails {
		if r.Name == timeToAnswer {
			r.Limit = limit.Seconds()
		}
	}
}

// guardrails of a study. Nobody can switch them off.
func (o *Options) guardrails() []*guard {
	g := func(rail switchback.Guardrail, value func(now, before Sample, values map[string]float64) float64) *guard {
		return &guard{Watch: switchback.Watch{Guardrail: rail}, value: func(now, before Sample, values map[string]float64) float64 {
			v := value(now, before, values)
			if rail.Inverse {
				return 1 / v
			}
			return v + rail.Floor
		}}
	}
	rails := []*guard{
		g(switchback.Guardrail{Name: timeToAnswer, Limit: longestAnswer.Seconds(), Unit: "s"}, func(now, _ Sample, _ map[string]float64) float64 { return now.Took.Seconds() }),
		g(switchback.Guardrail{Name: "memory in use", Limit: 0.97, Checks: 2, Unit: "%"}, func(now, _ Sample, _ map[string]float64) float64 { return 1 - now.Available }),
		g(switchback.Guardrail{Name: "connection table in use", Limit: 0.97, Checks: 2, Unit: "%"}, func(now, _ Sample, _ map[string]float64) float64 { return now.States }),
		g(switchback.Guardrail{Name: "run queue", HarmPercent: fourfold, Unit: "threads a CPU", Floor: 1}, func(now, _ Sample, _ map[string]float64) float64 {
			return now.Running / float64(max(1, now.CPUs))
		}),
		g(switchback.Guardrail{Name: "CPU in use", HarmPercent: twice, Unit: "%", Floor: 0.1}, func(now, before Sample, _ map[string]float64) float64 {
			return ratio(now.Busy-before.Busy, now.Passed-before.Passed)
		}),
		g(switchback.Guardrail{Name: "dropped packets", HarmPercent: twice, Unit: "%", Floor: dropsFloor}, func(now, before Sample, _ map[string]float64) float64 {
			return ratio(now.Drops-before.Drops, now.Packets-before.Packets)
		}),
		// Traffic that stays away is harm that no ratio of it shows.
		g(switchback.Guardrail{Name: "time between packets", HarmPercent: fourfold, Unit: "s"}, func(now, before Sample, _ map[string]float64) float64 {
			return (now.Passed - before.Passed) / float64(max(1, now.CPUs)) / (now.Packets - before.Packets + 1)
		}),
	}
	for i, m := range o.metrics {
		if i == 0 {
			rails = append(rails, g(switchback.Guardrail{Name: m.Source, HarmPercent: o.HarmPercent, Unit: m.Metric, Inverse: switchback.HigherIsBetter(m.Metric),
				Floor: map[string]float64{switchback.LogErrors: errorsFloor, switchback.Drops: dropsFloor}[m.Metric]}, func(_, _ Sample, values map[string]float64) float64 { return values[m.Metric] }))
		}
		if f, ok := m.from.(fallible); ok {
			rails = append(rails, g(switchback.Guardrail{Name: "failures of " + m.Source, HarmPercent: twice, Unit: "%", Floor: errorsFloor}, func(Sample, Sample, map[string]float64) float64 {
				return f.failing()
			}))
		}
	}
	return rails
}

// fallible is a source of what can fail: a setting under which requests fail at once makes
// those that are left no slower.
type fallible interface {
	// failing is the share of failures since the tick before the last; NaN of nothing.
	failing() float64
}

// guarding is all guardrails over a study.
type guarding struct {
	rails []*guard
	begun time.Time // the window
}

// window begins a new one.
func (g *guarding) window() {
	g.begun = time.Now()
	for _, r := range g.rails {
		r.Begin()
	}
}

// check takes what one look saw. Control windows teach what is usual.
func (g *guarding) check(treated bool, now, before Sample, values map[string]float64) *switchback.Trip {
	if before.Boot != now.Boot || now.Passed <= before.Passed {
		return nil
	}
	for _, r := range g.rails {
		v := r.value(now, before, values)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if !treated {
			r.Control(v)
			continue
		}
		if t, trips := r.Check(v, max(0, now.At.Sub(g.begun).Seconds())); trips {
			return &t
		}
	}
	return nil
}

// beyond names the first absolute guardrail that is beyond its limit without any
// treatment.
func (g *guarding) beyond(now Sample) (switchback.Guardrail, float64, bool) {
	for _, r := range g.rails {
		if r.HarmPercent > 0 {
			continue
		}
		if v := r.value(now, now, nil); v > r.Limit {
			return r.Guardrail, v, true
		}
	}
	return switchback.Guardrail{}, 0, false
}

// nearest is how near those came in the window that saw something.
func (g *guarding) nearest() map[string]switchback.Nearest {
	out := map[string]switchback.Nearest{}
	for _, r := range g.rails {
		if r.Nearest != (switchback.Nearest{}) {
			out[r.Name] = r.Nearest
		}
	}
	return out
}
