// Package rolloutbench simulates fleets whose rollouts are experiments, with planted effects.
package rolloutbench

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"linerate/internal/fleet"
	"linerate/internal/fleet/wedge"
	"linerate/internal/list"
	"linerate/internal/stats"
)

// World is how the hosts of a fleet differ, and what becomes of them meanwhile.
type World struct {
	Name    string  `json:"name"`
	Apart   float64 `json:"hosts_apart"` // scatter of the hosts' levels, as a log
	Strata  int     `json:"strata"`      // the first has half of the hosts, the next half of the rest …
	Uneven  float64 `json:"uneven"`      // of strata: their trends differ by so much a period, as a log
	Trend   float64 `json:"trend"`       // of all hosts in a period, as a log
	Drift   float64 `json:"drift"`       // scatter of a host's own steps from period to period, as a log
	Answers float64 `json:"answers"`     // scatter of the hosts' effects, as a log
	Builds  float64 `json:"builds"`      // share of the effect that is missing in its first period, of that in its second …
	Noise   float64 `json:"noise"`       // scatter of a host's period, as a log; 0: that of most worlds
}

// noise is the scatter of a host's period, as a log, in most worlds.
const noise = 0.04

// Worlds are from easy to nasty.
func Worlds() []World {
	return []World{
		{Name: "alike", Strata: 1},
		{Name: "hosts apart", Apart: 0.5, Strata: 1},
		{Name: "quiet", Apart: 0.5, Strata: 1, Noise: 0.005},
		{Name: "uneven strata", Apart: 0.5, Strata: 3, Uneven: 0.05},
		{Name: "trend", Apart: 0.5, Strata: 1, Trend: 0.1},
		{Name: "drift", Apart: 0.5, Strata: 1, Drift: 0.03},
		{Name: "unlike answers", Apart: 0.5, Strata: 1, Answers: 0.05},
		{Name: "builds up", Apart: 0.5, Strata: 1, Builds: 0.5},
		{Name: "all of it", Apart: 0.5, Strata: 3, Uneven: 0.05, Trend: 0.1, Drift: 0.03, Answers: 0.05, Builds: 0.5},
	}
}

// Row is how rollouts of one size do in a world.
type Row struct {
	World string `json:"world"`
	Hosts int    `json:"hosts"`
	// FalseStops is the share of rollouts without effect that were ended for harm, Held of those that
	// ended because harm was not excluded.
	FalseStops float64 `json:"false_stops"`
	Held       float64 `json:"held"`
	// Coverage is of intervals of 95 % at the end, whatever ended it, over a gain of 5 %; Bias is
	// what the estimate is off by on average, in percent; Found is how often it tells it from 0.
	Coverage float64 `json:"coverage"`
	Bias     float64 `json:"bias_percent"`
	Found    float64 `json:"found"`
	Harms    []Harm  `json:"harms"`
}

// Harm is what becomes of a plan that does harm.
type Harm struct {
	Percent float64 `json:"percent"`
	// Stopped is the share of rollouts that it ended; Harmed the share of hosts that had the plan
	// when they ended, whatever ended them.
	Stopped float64 `json:"stopped"`
	Harmed  float64 `json:"hosts_harmed"`
}

// Fleets are the sizes.
var Fleets = []int{8, 12, 20, 60, 200, 2000}

// Harms are those of Row, in percent.
var Harms = []float64{5, 10, 30}

// steps of the simulated rollouts, which are the command's own.
const steps = "10%,25%,50%,100%"

// Table simulates rollouts of every world and size; large fleets, of which each costs more, fewer.
func Table(rollouts int, seed uint64) []Row {
	worlds := Worlds()
	return list.Parallel(len(worlds)*len(Fleets), func(i int) Row {
		hosts := Fleets[i%len(Fleets)]
		return worlds[i/len(Fleets)].row(hosts, max(20, min(rollouts, 200*rollouts/hosts)), seed+uint64(i))
	})
}

func (w World) row(hosts, rollouts int, seed uint64) Row {
	r := rand.New(rand.NewPCG(seed, 5))
	row, each := Row{World: w.Name, Hosts: hosts}, 1/float64(rollouts)
	gain := math.Log(0.95)
	for range rollouts {
		switch _, l := w.rollout(hosts, 0, r); l.Says {
		case wedge.Harm:
			row.FalseStops += each
		case wedge.Wait:
			row.Held += each
		}
		_, l := w.rollout(hosts, gain, r)
		low, high := l.Effect.CILow.Float(), l.Effect.CIHigh.Float()
		if low <= -5 && -5 <= high {
			row.Coverage += each
		}
		if high < 0 {
			row.Found += each
		}
		row.Bias += each * (l.Effect.EffectPercent.Float() + 5)
	}
	for _, percent := range Harms {
		h := Harm{Percent: percent}
		for range rollouts {
			had, l := w.rollout(hosts, math.Log1p(percent/100), r)
			if l.Says == wedge.Harm {
				h.Stopped += each
			}
			h.Harmed += each * had
		}
		row.Harms = append(row.Harms, h)
	}
	return row
}

// rollout simulates one: the share of hosts that have the plan when it ends, and the last look.
func (w World) rollout(n int, effect float64, r *rand.Rand) (had float64, l wedge.Look) {
	f := w.fleet(n, effect, r)
	for range wedge.Baselines {
		f.measure(0, r)
	}
	for wave := 1; wave <= f.trial.Waves; wave++ {
		l, _ = f.trial.Pass(wave, func() error { f.measure(wave, r); return nil })
		if l.Says == wedge.Harm || l.Says == wedge.Wait {
			for _, h := range f.trial.Hosts {
				if h.Step() <= wave {
					had += 1 / float64(n)
				}
			}
			return had, l
		}
	}
	return 1, l
}

// simulated is a fleet as it is.
type simulated struct {
	World
	trial         wedge.Trial
	level, effect []float64
	missing       []float64 // of the effect
}

func (w World) fleet(n int, effect float64, r *rand.Rand) *simulated {
	f := &simulated{World: w, level: make([]float64, n), effect: make([]float64, n), missing: make([]float64, n)}
	var hosts []wedge.Host
	for i := range n {
		s := 0
		for s < w.Strata-1 && i >= n-n>>(s+1) {
			s++
		}
		hosts = append(hosts, wedge.Host{Name: fmt.Sprint(i), Stratum: fmt.Sprint(s)})
		f.level[i], f.effect[i], f.missing[i] = w.Apart*r.NormFloat64(), effect+w.Answers*r.NormFloat64(), 1
	}
	parsed, err := fleet.ParseSteps(steps)
	if err != nil {
		panic(err) // they are written above
	}
	ends, seed := parsed.Divide(n), r.Uint64()
	f.trial = wedge.Trial{Better: stats.LowerIsBetter, Harm: 5, Seed: seed, Waves: len(ends), Hosts: wedge.Draw(hosts, ends, seed)}
	return f
}

// measure adds a period.
func (f *simulated) measure(wave int, r *rand.Rand) {
	period := wedge.Period{Wave: wave}
	trend := f.Trend * r.NormFloat64()
	for i, h := range f.trial.Hosts {
		f.level[i] += f.Drift*r.NormFloat64() + f.Uneven*float64(h.Stratum[0]-'0')
		v := f.level[i] + trend + cmp.Or(f.Noise, noise)*r.NormFloat64()
		if h.Step() <= wave {
			f.missing[i] *= f.Builds
			v += f.effect[i] * (1 - f.missing[i])
		}
		period.Values = append(period.Values, stats.Num(math.Exp(v)))
	}
	f.trial.Periods = append(f.trial.Periods, period)
}
