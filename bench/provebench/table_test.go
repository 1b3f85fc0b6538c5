package provebench

import (
	"math"
	"math/rand/v2"
	"slices"

	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Method is a way to evaluate a setting on one host.
type Method string

// The methods in the table.
const (
	Pairs       Method = "linerate"            // the randomisation test over pairs
	Looks       Method = "linerate, looks"     // the same, with early stopping
	Shams       Method = "linerate, shams"     // its A/A arm
	BeforeAfter Method = "before and after"    // half a day each, Welch's t over windows
	OverWindows Method = "t-test over windows" // linerate's windows, Welch's t
)

// Row holds the results of a method for one shape.
type Row struct {
	Shape  string `json:"shape"`
	Method Method `json:"method"`
	// FalsePositiveRate is that of days without effect; Coverage (of the 95 % interval)
	// and Power are those of days on which the setting lowered the metric by 5 %.
	FalsePositiveRate float64      `json:"false_positive_rate"`
	Coverage          stats.Number `json:"coverage"`
	Power             stats.Number `json:"power"`
	// Reversed is the share of the latter days on which the setting is found to do harm, and
	// Noticed that on which late effects change the result (FalseNotices: of days without effect).
	Reversed     float64      `json:"reversed"`
	Noticed      stats.Number `json:"late_noticed"`
	FalseNotices stats.Number `json:"late_false_notices"`
}

// pairs of a simulated study, and the effect that it should find.
const (
	pairs  = 24
	effect = -0.05
)

var methods = []Method{Pairs, Looks, Shams, BeforeAfter, OverWindows}

type tally struct{ studies, alarms, intervals, covered, found, reversed, noticed, notices int }

// Table simulates studies of each shape for each method, the shapes in parallel.
func Table(studies int, seed uint64) []Row {
	return eachShape(func(i int, s Shape) []Row {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		t := map[Method]*tally{}
		for _, m := range methods {
			t[m] = &tally{}
		}
		for range studies {
			slots := plan.Schedule(r.Uint64())
			halves := halfAndHalf(len(slots)) // a before-and-after comparison does not randomise
			for _, act := range []float64{0, effect} {
				day, parted := s.simulate(r, slots, act), s.simulate(r, halves, act)
				for _, m := range methods {
					if m == BeforeAfter {
						t[m].study(m, parted, act)
					} else {
						t[m].study(m, day, act)
					}
				}
			}
		}
		return list.Map(methods, func(m Method) Row { return t[m].row(s, m) })
	})
}

// eachShape processes the shapes in parallel, and returns the results in their order.
func eachShape[T any](work func(i int, s Shape) []T) []T {
	shapes := Shapes()
	return slices.Concat(list.Parallel(len(shapes), func(i int) []T { return work(i, shapes[i]) })...)
}

func halfAndHalf(n int) []study.WindowSlot {
	slots := make([]study.WindowSlot, n)
	for i := range slots {
		slots[i] = study.WindowSlot{Arm: study.Control}
		if i >= n/2 {
			slots[i].Arm = "setting"
		}
	}
	return slots
}

// study evaluates a day with a method and counts the result.
func (t *tally) study(m Method, d day, effect float64) {
	p, i, late := m.judge(d)
	if effect == 0 {
		if t.studies++; late {
			t.notices++
		}
		if p <= 0.05 {
			t.alarms++
		}
		return
	}
	if late {
		t.noticed++
	}
	if p <= 0.05 && i.Estimate < 0 {
		t.found++
	} else if p <= 0.05 {
		t.reversed++
	}
	if i.Known() {
		t.intervals++
	}
	if i.Contains(effect) {
		t.covered++
	}
}

// judge returns the p-value of no effect (at most 0.05 if the method finds a difference),
// the interval of the log effect, and whether linerate noticed late effects.
func (m Method) judge(d day) (p float64, i stats.Interval, late bool) {
	opt := stats.Options{Draws: 1999, NoPlan: true, Better: stats.LowerIsBetter}
	switch m {
	case BeforeAfter, OverWindows:
		control := d.windows(func(_ int, s study.WindowSlot) bool { return !s.Treated() })
		treated := d.windows(func(_ int, s study.WindowSlot) bool { return s.Treated() })
		w := stats.Welch(control, treated, 0.95)
		return w.P, w.Interval, false
	case Shams:
		a, b := d.arms(study.Sham)
		c := stats.CompareSwitchback([]stats.Arm{a}, []stats.Arm{b}, opt)[0]
		return c.P, stats.Interval{Low: math.NaN(), High: math.NaN()}, false
	}
	a, b := d.arms("setting")
	if m == Looks {
		return early(d, a, b, opt)
	}
	return decided(d, stats.CompareSwitchback([]stats.Arm{a}, []stats.Arm{b}, opt)[0], opt)
}

// lateDraws is less than in real studies, because there are many simulations.
const lateDraws = 199

// decided returns the result of a comparison after the check for late effects.
func decided(d day, c stats.Comparison, opt stats.Options) (p float64, i stats.Interval, late bool) {
	c.Outlast(stats.LateEffects(d.inTime(), lateDraws, 1), 1, opt)
	if p = 1; c.Verdict.Differs() {
		p = 0
	}
	return p, c.Effect.Interval, c.Short || c.Method == stats.OverBothArms
}

// plan of the simulated studies.
var plan = study.WindowPlan{Treatments: []string{"setting"}, Pairs: pairs}

// looks are those of the study with early stopping, as planned by linerate prove.
var looks = func() stats.Sequential {
	s, err := stats.NewSequential(plan.LooksIn(pairs), 0.05)
	if err != nil {
		panic(err) // constants
	}
	return s
}()

func early(d day, a, b stats.Arm, opt stats.Options) (float64, stats.Interval, bool) {
	for k, n := range looks.Looks {
		x, y := stats.Arm{Values: a.Values[:n]}, stats.Arm{Values: b.Values[:n]}
		c, stop := looks.Settle(stats.CompareSwitchback([]stats.Arm{x}, []stats.Arm{y}, opt)[0], k, opt)
		if until := d.until(n); stop {
			if p, i, late := decided(until, c, opt); n == pairs || !late {
				return p, i, late
			}
		}
	}
	return 1, stats.Interval{}, false
}

func (t *tally) row(s Shape, m Method) Row {
	n := float64(t.studies)
	row := Row{Shape: s.Name, Method: m, FalsePositiveRate: float64(t.alarms) / n}
	if m != Shams {
		row.Reversed = float64(t.reversed) / n
		row.Coverage, row.Power = stats.Num(float64(t.covered)/float64(t.intervals)), stats.Num(float64(t.found)/n)
	}
	if m == Pairs || m == Looks {
		row.Noticed, row.FalseNotices = stats.Num(float64(t.noticed)/n), stats.Num(float64(t.notices)/n)
	}
	return row
}

// Guard holds the results of the guardrail on the primary metric for one shape.
type Guard struct {
	Shape string `json:"shape"`
	// FalseTrips is the share of days without harm that the guardrail ended.
	FalseTrips float64 `json:"false_trips_per_day"`
	// Tripped is the share of days with harm that it ended, and Windows the median
	// number of treated windows until then, counting part of the last one.
	HarmPercent float64      `json:"harm_percent"`
	Tripped     float64      `json:"tripped"`
	Windows     stats.Number `json:"windows_to_trip"`
}

// Guards simulates a guardrail that allows a harm of 20 %, on days without harm and on
// days with a harm of 50, 100 or 400 %.
func Guards(days int, seed uint64) []Guard {
	return eachShape(func(i int, s Shape) (out []Guard) {
		for _, harm := range []float64{50, 100, 400} {
			out = append(out, s.guard(days, harm, rand.New(rand.NewPCG(seed, uint64(1000*i)+uint64(harm)))))
		}
		return out
	})
}

func (s Shape) guard(days int, harm float64, r *rand.Rand) Guard {
	g := Guard{Shape: s.Name, HarmPercent: harm}
	var took []float64
	for range days {
		slots := plan.Schedule(r.Uint64())
		if _, tripped := guarded(s.simulate(r, slots, 0)); tripped {
			g.FalseTrips += 1 / float64(days)
		}
		if windows, tripped := guarded(s.simulate(r, slots, math.Log1p(harm/100))); tripped {
			g.Tripped += 1 / float64(days)
			took = append(took, windows)
		}
	}
	g.Windows = stats.Num(stats.Median(took))
	return g
}

func guarded(d day) (windows float64, tripped bool) {
	w := study.Watch{Guardrail: study.Guardrail{Name: "metric", HarmPercent: 20}}
	late := w.Late()
	treated := 0.0
	for k, s := range d.slots {
		late.Begin(s.Arm)
		if !s.Treated() {
			for _, v := range d.values[k][burnt:] {
				w.Control(v)
				if _, trips := late.Check(v, 0); trips {
					return treated, true
				}
			}
			continue
		}
		w.Begin("it")
		for i, v := range d.values[k] {
			if _, trips := w.Check(v, 0); trips {
				return treated + float64(i+1)/perWindow, true
			}
		}
		treated++
	}
	return treated, false
}

// Claims returns, for linerate without looks, the largest false-positive rate over
// all shapes and the coverage that is farthest from 95 %.
func Claims(rows []Row) (falsePositiveRate, coverage float64) {
	coverage = 0.95
	for _, r := range rows {
		if r.Method != Pairs {
			continue
		}
		falsePositiveRate = max(falsePositiveRate, r.FalsePositiveRate)
		if c := r.Coverage.Float(); math.Abs(c-0.95) > math.Abs(coverage-0.95) {
			coverage = c
		}
	}
	return falsePositiveRate, coverage
}
