package provebench

import (
	"math"
	"math/rand/v2"
	"slices"

	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Method is a way to judge a setting on one host.
type Method string

// The methods that the table has.
const (
	Pairs       Method = "linerate"            // the randomisation test over pairs
	Looks       Method = "linerate, looks"     // the same, which may stop early
	Shams       Method = "linerate, shams"     // its A/A arm
	BeforeAfter Method = "before and after"    // half a day each, Welch's t over windows
	OverWindows Method = "t-test over windows" // the same windows as linerate, Welch's t
)

// Row is what one method does on one shape of days.
type Row struct {
	Shape  string `json:"shape"`
	Method Method `json:"method"`
	// FalsePositiveRate is of days on which the setting did nothing, Coverage of the
	// 95 % interval and Power of days on which it lowered the metric by 5 %.
	FalsePositiveRate float64      `json:"false_positive_rate"`
	Coverage          stats.Number `json:"coverage"`
	Power             stats.Number `json:"power"`
	// Reversed is the share of those days of which it says that the setting does harm, and Noticed
	// that on which late effects change what is said (of days without effect, FalseNotices).
	Reversed     float64      `json:"reversed"`
	Noticed      stats.Number `json:"late_noticed"`
	FalseNotices stats.Number `json:"late_false_notices"`
}

// pairs of a simulated study, and the effect that it is to find.
const (
	pairs  = 24
	effect = -0.05
)

var methods = []Method{Pairs, Looks, Shams, BeforeAfter, OverWindows}

type tally struct{ studies, alarms, intervals, covered, found, reversed, noticed, notices int }

// Table simulates studies of every shape by every method, a shape on each CPU.
func Table(studies int, seed uint64) []Row {
	return eachShape(func(i int, s Shape) []Row {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		t := map[Method]*tally{}
		for _, m := range methods {
			t[m] = &tally{}
		}
		for range studies {
			slots := plan.Schedule(r.Uint64())
			halves := halfAndHalf(len(slots)) // a before-and-after comparison draws no random order
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

// eachShape works shapes side by side, and puts what comes of them in their order.
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

// study judges one day by a method.
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

// judge gives the p of no effect, at most 0.05 where the method calls a difference, and
// the interval of the effect on the logarithm; late effects are noticed by linerate's.
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

// lateDraws are fewer than a study's: a simulation has many of them.
const lateDraws = 199

// decided is a comparison with what the windows show of late effects.
func decided(d day, c stats.Comparison, opt stats.Options) (p float64, i stats.Interval, late bool) {
	c.Outlast(stats.LateEffects(d.inTime(), lateDraws, 1), 1, opt)
	if p = 1; c.Verdict.Differs() {
		p = 0
	}
	return p, c.Effect.Interval, c.Short || c.Method == stats.OverBothArms
}

// plan of the simulated studies.
var plan = study.WindowPlan{Treatments: []string{"setting"}, Pairs: pairs}

// looks of the study that may stop early: those that linerate prove plans.
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

// Guard is how the guardrail on the primary metric does on days of a shape.
type Guard struct {
	Shape string `json:"shape"`
	// FalseTrips is the share of days without harm that it ended.
	FalseTrips float64 `json:"false_trips_per_day"`
	// Tripped is the share of days with harm that it ended, and Windows the median
	// number of treated windows until it did, the one in which it tripped with its part.
	HarmPercent float64      `json:"harm_percent"`
	Tripped     float64      `json:"tripped"`
	Windows     stats.Number `json:"windows_to_trip"`
}

// Guards simulates the guardrail: a harm of 20 % is allowed, and days have none, or one
// of 50, 100 or 400 %.
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

// Claims are the worst false-positive rate of linerate's rows and the coverage that
// is farthest from 95 %, over all shapes, of the study without looks.
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
