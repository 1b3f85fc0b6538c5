package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"linerate/internal/list"
)

// Test is the outcome of a t test: an estimate with its interval and the
// two-sided p-value of "no difference".
type Test struct {
	Interval
	SE float64 // standard error of the estimate
	DF float64 // degrees of freedom
	T  float64 // estimate ÷ SE
	P  float64
}

// newTest returns the Test of an estimate, given its standard error.
func newTest(estimate, se, df, level float64) Test {
	t := Test{Interval: noInterval(estimate, level), SE: se, DF: df, T: math.NaN(), P: math.NaN()}
	if math.IsNaN(se) || !(df > 0) {
		return t
	}
	half := TQuantile(1-(1-level)/2, df) * se
	t.Low, t.High = estimate-half, estimate+half
	switch {
	case se > 0:
		t.T = estimate / se
	case estimate == 0:
		t.T = 0
	default:
		t.T = math.Inf(1)
		if estimate < 0 {
			t.T = math.Inf(-1)
		}
	}
	t.P = twoSidedT(t.T, df)
	return t
}

// OneSample applies Student's t test to the mean of x against zero (Student
// 1908). Fewer than two values give no interval.
func OneSample(x []float64, level float64) Test {
	mean, v := MeanVariance(x)
	n := float64(len(x))
	return newTest(mean, math.Sqrt(v/n), n-1, level)
}

// Welch applies the t test to mean(b) − mean(a) for unequal variances, with
// Satterthwaite's degrees of freedom (Welch, Biometrika 34, 1947).
func Welch(a, b []float64, level float64) Test {
	ma, va := MeanVariance(a)
	mb, vb := MeanVariance(b)
	na, nb := float64(len(a)), float64(len(b))
	qa, qb := va/na, vb/nb
	df := (qa + qb) * (qa + qb) / (qa*qa/(na-1) + qb*qb/(nb-1))
	if qa+qb == 0 {
		df = na + nb - 2
	}
	return newTest(mb-ma, math.Sqrt(qa+qb), df, level)
}

// Slope applies Student's t test to the least-squares slope of y over x; false if x has fewer
// than three values or does not vary.
func Slope(x, y []float64) (Test, bool) {
	if len(x) < 3 {
		return Test{}, false
	}
	mx, vx := MeanVariance(x)
	my, _ := MeanVariance(y)
	n, sum := float64(len(x)), 0.0
	if !(vx > 0) {
		return Test{}, false
	}
	for i := range x {
		sum += (x[i] - mx) * (y[i] - my)
	}
	slope, rest := sum/(vx*(n-1)), 0.0
	for i := range x {
		e := y[i] - my - slope*(x[i]-mx)
		rest += e * e
	}
	return newTest(slope, math.Sqrt(rest/(n-2)/(vx*(n-1))), n-2, 0.95), true
}

// SumOf adds an independent estimate with its standard error to a test's estimate.
func SumOf(t Test, estimate, se float64) Test {
	return newTest(t.Estimate+estimate, math.Hypot(t.SE, se), t.DF, t.Level)
}

// Groups is the outcome of a one-way analysis of variance: whether the means of
// several groups differ by more than the scatter within them explains.
type Groups struct {
	F float64 // variance between the groups' means ÷ variance within
	// DFBetween and DFWithin are the degrees of freedom of F.
	DFBetween, DFWithin float64
	P                   float64 // of "no difference"; NaN if it cannot be tested
}

// AmongGroups applies Fisher's F test of equal means (one-way analysis of variance,
// fixed effects; Montgomery, Design and Analysis of Experiments, ch. 3). It ignores
// NaNs, and groups without values. With fewer than two groups, or no group of two
// values, there is no p.
func AmongGroups(groups [][]float64) Groups {
	var all, kept []float64
	var sizes []int
	within := 0.0
	for _, g := range groups {
		x := list.Filter(g, isNumber)
		if len(x) == 0 {
			continue
		}
		mean, v := MeanVariance(x)
		if len(x) > 1 {
			within += v * float64(len(x)-1)
		}
		all, kept, sizes = append(all, x...), append(kept, mean), append(sizes, len(x))
	}
	out := Groups{F: math.NaN(), P: math.NaN(), DFBetween: float64(len(kept) - 1), DFWithin: float64(len(all) - len(kept))}
	if out.DFBetween < 1 || out.DFWithin < 1 {
		return out
	}
	total, _ := MeanVariance(all)
	between := 0.0
	for i, m := range kept {
		between += float64(sizes[i]) * (m - total) * (m - total)
	}
	out.F = (between / out.DFBetween) / (within / out.DFWithin)
	switch {
	case within == 0 && between == 0:
		out.F, out.P = 0, 1
	case within == 0:
		out.F, out.P = math.Inf(1), 0
	default:
		out.P = mathext.RegIncBeta(out.DFWithin/2, out.DFBetween/2, out.DFWithin/(out.DFWithin+out.DFBetween*out.F)) // upper tail of F
	}
	return out
}
