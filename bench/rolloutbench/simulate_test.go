// Package rolloutbench simulates rollouts by linerate apply --measure as experiments on fleets, with known effects.
package rolloutbench

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/fleet/wedge"
	"linerate/internal/list"
	"linerate/internal/stats"
)

var (
	rollouts = flag.Int("rollouts", 400, "simulated rollouts of 8 to 200 hosts a world and effect; of 2,000 a tenth as many")
	seed     = flag.Uint64("seed", 1, "seed of the simulation")
)

// BenchmarkTable simulates rollouts in every world, and prints how they end as a JSON document:
//
//	go test ./bench/rolloutbench -run '^$' -bench Table -benchtime 1x -args -rollouts 200
func BenchmarkTable(b *testing.B) {
	if *rollouts < 20 || *rollouts > 100_000 {
		b.Fatalf("-rollouts %d is not between 20 and 100000", *rollouts)
	}
	var rows []Row
	for range b.N {
		rows = Table(*rollouts, *seed)
	}
	if err := cli.PrintJSON(os.Stdout, map[string]any{"version": 1, "rollouts": *rollouts, "seed": *seed, "rows": rows}); err != nil {
		b.Fatal(err)
	}
}

// TestRollouts: rollouts to small fleets of different hosts with a trend: a plan without effect passes, the
// interval covers a gain, and great harm is stopped on few hosts.
func TestRollouts(t *testing.T) {
	for _, w := range Worlds() {
		if w.Name != "trend" && w.Name != "uneven strata" {
			continue
		}
		row := w.row(20, 40, 5)
		if row.FalseStops > 0.15 || row.Coverage < 0.8 || row.Bias < -1.5 || row.Bias > 1.5 || row.Found < 0.5 {
			t.Errorf("%+v", row)
		}
		if great := row.Harms[2]; great.Stopped < 0.95 || great.Harmed > 0.2 {
			t.Errorf("%+v", row)
		}
	}
}

// World describes how the hosts of a fleet differ, and how they change over time.
type World struct {
	Name    string  `json:"name"`
	Apart   float64 `json:"hosts_apart"` // scatter of the hosts' levels, as a log
	Strata  int     `json:"strata"`      // the first contains half of the hosts, the next half of the rest …
	Uneven  float64 `json:"uneven"`      // trend of stratum n per period, in units of n, as a log
	Trend   float64 `json:"trend"`       // scatter of the trend common to all hosts, as a log
	Drift   float64 `json:"drift"`       // scatter of a host's steps from period to period, as a log
	Answers float64 `json:"answers"`     // scatter of the hosts' effects, as a log
	Builds  float64 `json:"builds"`      // share of the effect that is missing in its first period; squared in its second …
	Noise   float64 `json:"noise"`       // scatter of a host's value in a period, as a log; 0: noise
}

// noise is the scatter of a host's value in a period, as a log, in most worlds.
const noise = 0.04

// Worlds lists the worlds from easy to hard.
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

// Row holds the results of rollouts of one size in a world.
type Row struct {
	World string `json:"world"`
	Hosts int    `json:"hosts"`
	// FalseStops is the share of rollouts without effect that were stopped for harm, Held the share
	// that ended because harm could not be excluded.
	FalseStops float64 `json:"false_stops"`
	Held       float64 `json:"held"`
	// For a gain of 5 %, however the rollout ended: Coverage is that of the 95 % interval, Bias
	// the mean error of the estimate in percent, Found the share of intervals below 0.
	Coverage float64 `json:"coverage"`
	Bias     float64 `json:"bias_percent"`
	Found    float64 `json:"found"`
	Harms    []Harm  `json:"harms"`
}

// Harm holds the results for a plan that does harm.
type Harm struct {
	Percent float64 `json:"percent"`
	// Stopped is the share of rollouts stopped for harm; Harmed is the share of hosts that had
	// the plan at the end, however the rollout ended.
	Stopped float64 `json:"stopped"`
	Harmed  float64 `json:"hosts_harmed"`
}

// Fleets lists the fleet sizes.
var Fleets = []int{8, 12, 20, 60, 200, 2000}

// Harms lists the harms simulated for each Row, in percent.
var Harms = []float64{5, 10, 30}

// steps of the simulated rollouts, which are the command's default.
const steps = "10%,25%,50%,100%"

// Table simulates rollouts for each world and size, fewer of the costlier large fleets.
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

// rollout simulates a rollout, and returns the share of hosts with the plan at its end and the last look.
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

// simulated is the state of a simulated fleet.
type simulated struct {
	World
	trial         wedge.Trial
	level, effect []float64
	missing       []float64 // share of each host's effect that is still missing
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
		panic(err) // steps is a constant
	}
	ends, seed := parsed.Divide(n), r.Uint64()
	f.trial = wedge.Trial{Better: stats.LowerIsBetter, Harm: 5, Seed: seed, Waves: len(ends), Hosts: wedge.Draw(hosts, ends, seed)}
	return f
}

// measure adds a period's values.
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
