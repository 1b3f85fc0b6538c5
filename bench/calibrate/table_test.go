// Package calibrate measures properties of the statistical rules by simulation:
// the false-positive rate without a difference, the coverage of intervals and the
// power, for data like those of benchmarks. Random numbers are seeded.
package calibrate

import (
	"math"
	"math/rand/v2"
)

// effect is the true slow-down in the power simulation: 1.5 standard
// deviations of a trial.
const effect = 0.015

// Row holds the results of a rule for one kind of data.
type Row struct {
	Shape Shape  `json:"shape"`
	Order Order  `json:"order"`
	N     int    `json:"n"` // trials per arm
	Rule  string `json:"rule"`
	// FalsePositive is the share of A/A studies called different, Coverage the
	// share of intervals that contain the true effect (null: the rule has none),
	// Power the share of studies in which a slow-down by 1.5 % is found.
	FalsePositive float64  `json:"false_positive"`
	Coverage      *float64 `json:"coverage"`
	Power         float64  `json:"power"`
	Claim         Claim    `json:"claim"`
	// Kept says that the claim holds within the simulation error.
	Kept bool `json:"kept"`
}

// Table simulates reps A/A studies and reps studies with an effect for each
// shape, order and size. All rules see the same data.
func Table(sizes []int, reps int, seed uint64) []Row {
	var rows []Row
	for _, order := range []Order{Interleaved, Consecutive} {
		for _, shape := range Shapes() {
			for _, n := range sizes {
				rows = append(rows, cell(shape, order, n, reps, seed)...)
			}
		}
	}
	return rows
}

// tally counts the decisions of a rule.
type tally struct{ alarms, covered, intervals, found int }

func cell(shape Shape, order Order, n, reps int, seed uint64) []Row {
	rules := Rules()
	counts := make([]tally, len(rules))
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	for range reps {
		control, variant := sample(r, shape, order, n, 0)
		for k, rule := range rules {
			if rule.decide(control, variant).Differs {
				counts[k].alarms++
			}
		}
		control, variant = sample(r, shape, order, n, effect)
		for k, rule := range rules {
			d := rule.decide(control, variant)
			counts[k].add(d)
		}
	}
	rows := make([]Row, len(rules))
	for k, rule := range rules {
		rows[k] = counts[k].row(reps)
		rows[k].Shape, rows[k].Order, rows[k].N, rows[k].Rule = shape, order, n, rule.Name
		rows[k].Claim = rule.claims(shape, order, n)
		rows[k].Kept = rows[k].kept(reps)
	}
	return rows
}

// add counts a decision on arms that differ. sample multiplies the variant by
// 1 − effect, so the true relative effect is −effect.
func (t *tally) add(d Decision) {
	if d.Differs {
		t.found++
	}
	if d.Low <= d.High {
		t.intervals++
		if d.Low <= -effect && -effect <= d.High {
			t.covered++
		}
	}
}

func (t *tally) row(reps int) Row {
	r := Row{FalsePositive: float64(t.alarms) / float64(reps), Power: float64(t.found) / float64(reps)}
	if t.intervals > 0 {
		c := float64(t.covered) / float64(t.intervals)
		r.Coverage = &c
	}
	return r
}

// kept checks a claim, allowing for two standard errors of the simulation.
func (r Row) kept(reps int) bool {
	slack := 2 * standardError(reps)
	high := r.FalsePositive <= 0.06+slack && (r.Coverage == nil || *r.Coverage >= 0.94-slack)
	low := r.FalsePositive >= 0.04-slack && (r.Coverage == nil || *r.Coverage <= 0.96+slack)
	switch r.Claim {
	case Nominal:
		return high && low
	case Conservative:
		return high
	}
	return true
}

// standardError is that of a share near 5 % in the given number of repetitions.
func standardError(reps int) float64 { return math.Sqrt(0.05 * 0.95 / float64(reps)) }
