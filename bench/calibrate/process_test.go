package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"linerate/internal/stats"
)

// Shape is the kind of data that a machine's trials produce in the order of
// their execution, around 1 with about 1 % scatter.
type Shape string

// The shapes.
const (
	Normal     Shape = "normal"
	Skewed     Shape = "skewed"     // log-normal, long upper tail
	HeavyTail  Shape = "heavy tail" // Student's t with 3 degrees of freedom
	Drifting   Shape = "drifting"   // normal, while the machine slows by 4 % over the study
	Correlated Shape = "correlated" // first-order autoregressive, 0.8 from trial to trial
)

// Shapes lists all shapes.
func Shapes() []Shape { return []Shape{Normal, Skewed, HeavyTail, Drifting, Correlated} }

// scatter is the relative standard deviation of a trial.
const scatter = 0.01

// series draws n consecutive trials of one machine.
func (s Shape) series(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	state := r.NormFloat64()
	for i := range x {
		switch s {
		case Normal:
			x[i] = 1 + scatter*r.NormFloat64()
		case Skewed:
			// The exponential of a standard normal has mean 1.649 and standard
			// deviation 2.161, which is scaled to the common scatter.
			x[i] = 1 + scatter*(math.Exp(r.NormFloat64())-1.6487)/2.1612
		case HeavyTail:
			x[i] = 1 + scatter*studentT3(r)/math.Sqrt(3)
		case Drifting:
			x[i] = 1 + scatter*r.NormFloat64() - 0.04*float64(i)/float64(max(1, n-1))
		case Correlated:
			state = 0.8*state + 0.6*r.NormFloat64()
			x[i] = 1 + scatter*state
		}
	}
	return x
}

// studentT3 draws from Student's t with three degrees of freedom.
func studentT3(r *rand.Rand) float64 {
	a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
	return r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

// Order is how the trials of two arms are arranged in time.
type Order string

// The orders.
const (
	// Interleaved runs both arms once in each block, in random order.
	Interleaved Order = "interleaved"
	// Consecutive runs all trials of one arm, then all of the other, as a
	// simple benchmark script does.
	Consecutive Order = "consecutive"
)

// sample simulates a study of n trials per arm; the variant is slower by effect.
func sample(r *rand.Rand, s Shape, o Order, n int, effect float64) (control, variant []float64) {
	x := s.series(r, 2*n)
	control, variant = make([]float64, n), make([]float64, n)
	for i := range n {
		a, b := i, n+i
		if o == Interleaved {
			a, b = 2*i, 2*i+1
			if r.IntN(2) == 1 {
				a, b = b, a
			}
		}
		control[i], variant[i] = x[a], x[b]*(1-effect)
	}
	return control, variant
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// TestShapes: each kind of data has the stated scatter around 1, and the feature that it is named for.
func TestShapes(t *testing.T) {
	const n = 200_000
	for _, s := range Shapes() {
		x := s.series(random(3), n)
		sum := stats.Summarise(x)
		mean, sd := 1.0, scatter
		if s == Drifting {
			mean, sd = 0.98, math.Hypot(scatter, 0.04/math.Sqrt(12)) // the ramp's deviation in addition to the noise's
		}
		slack := 0.0005
		if s == HeavyTail || s == Correlated {
			slack = 0.002
		}
		if !(math.Abs(sum.Mean-mean) <= slack) || !(math.Abs(sum.SD-sd) <= 5*slack) {
			t.Errorf("%s: mean %.5f, standard deviation %.5f; want %.3f, %.4f", s, sum.Mean, sum.SD, mean, sd)
		}
		far := 0
		for _, v := range x {
			if math.Abs(v-1) > 5*scatter {
				far++
			}
		}
		if tails := far > n/2000; tails != (s == Skewed || s == HeavyTail) && s != Drifting {
			t.Errorf("%s: %d of %d trials beyond five deviations", s, far, n)
		}
		if r := neighbours(x); !(math.Abs(r-map[Shape]float64{Correlated: 0.8, Drifting: 0.5714}[s]) <= 0.02) {
			t.Errorf("%s: neighbours correlate by %.3f", s, r)
		}
	}
}

// neighbours returns the correlation of each value with the next.
func neighbours(x []float64) float64 {
	m := stats.Summarise(x).Mean
	var with, all float64
	for i, v := range x {
		all += (v - m) * (v - m)
		if i > 0 {
			with += (v - m) * (x[i-1] - m)
		}
	}
	return with / all
}

// TestSampleUsesEachTrialOnce: in either order the two arms use each trial of a machine once, with the
// variant's scaled by the effect; interleaved, each block has one of each arm, in random order.
func TestSampleUsesEachTrialOnce(t *testing.T) {
	for _, o := range []Order{Interleaved, Consecutive} {
		const n = 40
		series := Drifting.series(random(9), 2*n)
		control, variant := sample(random(9), Drifting, o, n, 0.5)
		var back []float64
		for i := range n {
			back = append(back, control[i], variant[i]*2)
		}
		slices.Sort(back)
		sorted := slices.Sorted(slices.Values(series))
		for i := range back {
			if !(math.Abs(back[i]-sorted[i]) <= 1e-12) {
				t.Fatalf("%s: trial %d is %g, of a series with %g", o, i, back[i], sorted[i])
			}
		}
		first := 0
		for i := range n {
			a, b := slices.Index(series, control[i]), slices.IndexFunc(series, func(v float64) bool { return math.Abs(v-2*variant[i]) < 1e-12 })
			if o == Consecutive && (a != i || b != n+i) || o == Interleaved && (a/2 != i || b/2 != i) {
				t.Errorf("%s: block %d has trials %d and %d", o, i, a, b)
			}
			if a < b {
				first++
			}
		}
		if o == Interleaved && (first < n/5 || first > 4*n/5) {
			t.Errorf("the control is first in %d of %d blocks", first, n)
		}
	}
}

// TestRules: no rule finds a difference between an arm and itself, all detect one of ten deviations, and
// intervals cover the truth.
func TestRules(t *testing.T) {
	control := make([]float64, 12)
	for i := range control {
		control[i] = 1 + 0.01*float64(i%5-2)
	}
	for _, r := range Rules() {
		slower := make([]float64, len(control))
		for i, v := range control {
			slower[i] = v * (0.9 + 0.0001*float64(i))
		}
		if d := r.decide(control, slices.Clone(control)); d.Differs {
			t.Errorf("%s: an arm differs from itself: %+v", r.Name, d)
		}
		d := r.decide(control, slower)
		if !d.Differs || d.Low <= d.High && (d.Low > -0.0995 || d.High < -0.0995) {
			t.Errorf("%s: a tenth slower: %+v", r.Name, d)
		}
		has := !math.IsNaN(d.Low)
		if want := r.Name != "benchstat"; has != want {
			t.Errorf("%s: an interval from %g to %g", r.Name, d.Low, d.High)
		}
	}
}

// TestRankU compares the statistic with its definition: the pairs in which the variant is greater.
func TestRankU(t *testing.T) {
	r := random(5)
	for range 200 {
		a, b := make([]float64, 1+r.IntN(9)), make([]float64, 1+r.IntN(9))
		for i := range a {
			a[i] = float64(r.IntN(6))
		}
		for i := range b {
			b[i] = float64(r.IntN(6))
		}
		want := 0
		for _, x := range a {
			for _, y := range b {
				if y > x {
					want++
				}
			}
		}
		if got := rankU(a, b); got != want {
			t.Fatalf("%v and %v: %d, want %d", a, b, got, want)
		}
	}
}

// TestClaimsAreHonest: nothing is claimed for consecutive arms whose trials drift or are correlated.
func TestClaimsAreHonest(t *testing.T) {
	for _, c := range []struct {
		rule  string
		shape Shape
		order Order
		n     int
		want  Claim
	}{
		{"linerate blocks", Normal, Interleaved, 5, Nominal}, {"linerate blocks", Drifting, Interleaved, 5, Nominal}, {"linerate blocks", Drifting, Consecutive, 20, None},
		{"linerate blocks", HeavyTail, Consecutive, 5, Conservative}, {"linerate Welch", Correlated, Interleaved, 20, None}, {"linerate Welch", Normal, Interleaved, 9, Conservative},
		{"linerate Welch", Normal, Consecutive, 10, Nominal}, {"ministat", Normal, Interleaved, 20, None}, {"benchstat", Normal, Interleaved, 20, None},
	} {
		i := slices.IndexFunc(Rules(), func(r Rule) bool { return r.Name == c.rule })
		if i < 0 {
			t.Fatalf("no rule %q", c.rule)
		}
		if got := Rules()[i].claims(c.shape, c.order, c.n); got != c.want {
			t.Errorf("%s of %s data, %s, n = %d: %s, want %s", c.rule, c.shape, c.order, c.n, got, c.want)
		}
	}
}

// TestKept: a claim fails if its numbers miss the bound, on the correct side.
func TestKept(t *testing.T) {
	c := func(v float64) *float64 { return &v }
	for _, r := range []struct {
		row  Row
		want bool
	}{
		{Row{Claim: Nominal, FalsePositive: 0.05, Coverage: c(0.95)}, true}, {Row{Claim: Nominal, FalsePositive: 0.10, Coverage: c(0.95)}, false},
		{Row{Claim: Nominal, FalsePositive: 0.01}, false}, {Row{Claim: Conservative, FalsePositive: 0.01, Coverage: c(0.99)}, true},
		{Row{Claim: Conservative, FalsePositive: 0.05, Coverage: c(0.80)}, false},
		{Row{Claim: None, FalsePositive: 0.9}, true},
	} {
		if got := r.row.kept(10_000); got != r.want {
			t.Errorf("%+v: kept %v", r.row, got)
		}
	}
	var tally tally
	for _, d := range []Decision{{true, -0.02, -0.01}, {true, 0.01, 0.02}, {false, math.NaN(), math.NaN()}} {
		tally.add(d)
	}
	if r := tally.row(4); tally.intervals != 2 || tally.covered != 1 || r.Power != 0.5 || *r.Coverage != 0.5 {
		t.Errorf("%+v: %+v", tally, r)
	}
}

// TestAdditiveResidual: constant differences of arms and blocks leave no residual; one deviating trial leaves
// what the model predicts.
func TestAdditiveResidual(t *testing.T) {
	arms := [][]float64{{1, 2, 3, 7}, {11, 12, 13, 17}, {101, 102, 103, 107}}
	if sd, df := additiveResidual(arms); sd > 1e-12 || df != 6 {
		t.Errorf("an additive table has a residual of %g on %g degrees", sd, df)
	}
	arms[1][2] += 12 // the sum of e² is 12²·(1−1/3)(1−1/4)
	if sd, _ := additiveResidual(arms); !(math.Abs(sd-math.Sqrt(144*2.0/3*3/4/6)) <= 1e-9) {
		t.Errorf("one trial off by 12 leaves %g", sd)
	}
}
