package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"linerate/internal/list"
	"linerate/internal/stats"
)

// Check is a property of a study's design that is verified by simulation.
type Check struct {
	What   string  `json:"what"`
	N      int     `json:"n"`
	Value  float64 `json:"value"`
	Low    float64 `json:"claimed_low"` // the claim; Low 0 and High 1: no claim
	High   float64 `json:"claimed_high"`
	Within bool    `json:"kept"`
}

func check(what string, n int, hits, reps int, low, high float64) Check {
	v, slack := float64(hits)/float64(reps), 2*standardError(reps)
	return Check{what, n, v, low, high, v >= low-slack && v <= high+slack}
}

// Checks simulates what a study's verdicts rely on besides the single
// comparison: variants with unequal scatter, several variants at once,
// equivalence tests, and interim looks.
func Checks(reps int, seed uint64) []Check {
	r := rand.New(rand.NewPCG(seed, 0xde51))
	var out []Check
	for _, n := range []int{5, 10, 20} {
		quiet, noisy := unequalScatter(r, n, reps)
		out = append(out,
			check("idle variant beside one that scatters 5×, by its own block-wise log ratios", n, quiet.own, reps, 0.04, 0.06),
			check("the idle one that scatters 5×, likewise", n, noisy.own, reps, 0.04, 0.06),
			check("the first by one residual variance for all (two-way additive model)", n, quiet.shared, reps, 0, 1),
			check("the second likewise", n, noisy.shared, reps, 0, 1))
	}
	for _, n := range []int{5, 10} {
		holm, raw := family(r, n, reps)
		out = append(out,
			check("any false positive among 5 variants, Holm", n, holm, reps, 0, 0.06),
			check("the same uncorrected", n, raw, reps, 0, 1))
		out = append(out, check("called equivalent within ±1 % though 1 % apart", n, falselyEquivalent(r, n, reps), reps, 0, 0.06))
	}
	plan, err := stats.NewSequential(looks, 0.05)
	if err != nil {
		panic(err) // constants
	}
	wrong := 0
	for range reps {
		if looked(plan, gaussians(r, 20, 0)).Verdict.Differs() {
			wrong++
		}
	}
	out = append(out, check("A/A called different with looks at 5, 8, 12, 16, 20 blocks", 20, wrong, reps, 0.03, 0.06))
	for _, power := range []float64{1. / 3, 0.5, 0.9} {
		n := max(100, reps/10)
		raw, adjusted := curse(r, plan, n, power)
		what := fmt.Sprintf("estimate of an effect that looks find with a power of %.0f %%, among those found, over the true one", 100*power)
		out = append(out, Check{what, 20, raw, 0, 2, true},
			Check{"the same without the winner's curse", 20, adjusted, 0.9, 1.1, math.Abs(adjusted-1) <= 0.1+2/math.Sqrt(float64(n))})
	}
	for _, n := range []int{10, 20} {
		out = append(out, check("interval of a percentage at +200 %, of a control that scatters by 30 %", n, percentages(r, n, reps), reps, 0.94, 0.96))
	}
	naive := 0
	for range reps {
		d := gaussians(r, 20, 0)
		for _, n := range looks {
			if stats.OneSample(d[:n], 0.95).P <= 0.05 {
				naive++
				break
			}
		}
	}
	out = append(out, check("the same looks at 5 % each, without a plan", 20, naive, reps, 0, 1))
	return append(out, nightly(reps, seed)...)
}

// percentages counts the intervals, in percentage points, that contain the true difference.
func percentages(r *rand.Rand, n, reps int) (covered int) {
	for range reps {
		control, variant := stats.Arm{Values: make([]float64, n)}, stats.Arm{Values: make([]float64, n)}
		for i := range n {
			control.Values[i], variant.Values[i] = 0.1+0.03*r.NormFloat64(), 0.3+0.03*r.NormFloat64()
		}
		c := stats.CompareBlocks(control, []stats.Arm{variant}, stats.Options{Share: true, Bare: true, NoPlan: true})[0]
		if c.EffectPercent.Contains(200) {
			covered++
		}
	}
	return covered
}

var looks = []int{5, 8, 12, 16, 20}

func gaussians(r *rand.Rand, n int, mean float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + scatter*r.NormFloat64()
	}
	return x
}

// alarms counts false positives with each variant's own variance and with a pooled one.
type alarms struct{ own, shared int }

func (a *alarms) add(d []float64, sd, df float64) {
	t := stats.OneSample(d, 0.95)
	if t.P <= 0.05 {
		a.own++
	}
	if math.Abs(t.Estimate) > stats.TQuantile(0.975, df)*sd*math.Sqrt(2/float64(len(d))) {
		a.shared++
	}
}

// unequalScatter counts false positives of two variants without effect, one
// of which has five times the scatter of the other and of the control.
func unequalScatter(r *rand.Rand, n, reps int) (quiet, noisy alarms) {
	for range reps {
		block := gaussians(r, n, 0)
		var arms [3][]float64
		for k, times := range []float64{1, 1, 5} {
			arms[k] = gaussians(r, n, 0)
			for i := range arms[k] {
				arms[k][i] = times*arms[k][i] + 3*block[i]
			}
		}
		sd, df := additiveResidual(arms[:])
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = arms[1][i]-arms[0][i], arms[2][i]-arms[0][i]
		}
		quiet.add(a, sd, df)
		noisy.add(b, sd, df)
	}
	return quiet, noisy
}

// additiveResidual returns the residual standard deviation of the two-way model block
// + arm, which assumes equal scatter in all arms, and its degrees of freedom.
func additiveResidual(arms [][]float64) (sd, df float64) {
	k, n := len(arms), len(arms[0])
	grand, byArm, byBlock := 0.0, make([]float64, k), make([]float64, n)
	for a := range arms {
		for i, v := range arms[a] {
			byArm[a] += v / float64(n)
			byBlock[i] += v / float64(k)
			grand += v / float64(n*k)
		}
	}
	ss := 0.0
	for a := range arms {
		for i, v := range arms[a] {
			e := v - byArm[a] - byBlock[i] + grand
			ss += e * e
		}
	}
	df = float64((n - 1) * (k - 1))
	return math.Sqrt(ss / df), df
}

// family counts studies of five variants without effect that have any false positive.
func family(r *rand.Rand, n, reps int) (holm, raw int) {
	for range reps {
		control := positive(gaussians(r, n, 0))
		var variants []stats.Arm
		for range 5 {
			variants = append(variants, stats.Arm{Values: positive(gaussians(r, n, 0))})
		}
		p := list.Map(variants, func(v stats.Arm) float64 { return stats.OneSample(logRatios(control, v.Values), 0.95).P })
		raw += anyBelow(p)
		holm += anyBelow(stats.Holm(p))
	}
	return holm, raw
}

func anyBelow(p []float64) int {
	return min(1, list.Count(p, func(v float64) bool { return v <= 0.05 }))
}

func positive(x []float64) []float64 {
	for i := range x {
		x[i] = math.Exp(x[i])
	}
	return x
}

// falselyEquivalent counts variants exactly at the margin that pass TOST. The scatter is
// small relative to the margin, so that the test reaches its full level.
func falselyEquivalent(r *rand.Rand, n, reps int) (hits int) {
	low, high := stats.RatioMargins(1)
	for range reps {
		d := gaussians(r, n, 0)
		for i := range d {
			d[i] = d[i]/4 + high
		}
		if stats.TOST(stats.OneSample(d, 0.95), low, high, 0.05).P <= 0.05 {
			hits++
		}
	}
	return hits
}

// looked returns a study's comparison at the look that ended it.
func looked(plan stats.Sequential, d []float64) (c stats.Comparison) {
	for k, n := range plan.Looks {
		stop := false
		c = stats.Comparison{Scale: stats.LogRatio, Effect: stats.OneSample(d[:n], 0.95)}
		if c, stop = plan.Settle(c, k, stats.Options{}); stop {
			break
		}
	}
	return c
}

// curse returns the mean estimate, relative to the true effect, over studies with interim
// looks that find a difference: raw, and corrected for the selection.
func curse(r *rand.Rand, plan stats.Sequential, want int, power float64) (raw, adjusted float64) {
	effect := stats.MinimumDetectableEffect(scatter, looks[len(looks)-1], 0.05, power)
	for found := 0; found < want; {
		if c := looked(plan, gaussians(r, looks[len(looks)-1], effect)); c.Verdict.Differs() {
			found++
			raw += c.Effect.Estimate / effect / float64(want)
			adjusted += c.Unselected / effect / float64(want)
		}
	}
	return raw, adjusted
}
