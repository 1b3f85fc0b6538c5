package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestDistributions holds the distributions against those of gonum: to 1e-12 of the
// value, and of one.
func TestDistributions(t *testing.T) {
	same := func(name string, got, want float64, at ...float64) {
		t.Helper()
		if got != want && !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
			t.Errorf("%s%v is %v, want %v", name, at, got, want)
		}
	}
	values := []float64{0, 1e-9, 1e-3, 0.02, 0.5, 1, 1.96, 2.5, 7, 12, 40, 1e3, 1e8}
	for _, df := range []float64{1, 1.5, 2, 2.7, 3, 4, 5.5, 9, 29, 121.3, 1e3, 1e6} {
		d := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}
		for _, x := range values {
			same("two-sided t", twoSidedT(-x, df), min(1, 2*d.Survival(x)), x, df)
			same("upper t", upperT(x, df), d.Survival(x), x, df)
			same("upper t", upperT(-x, df), d.CDF(x), -x, df)
			same("normal", normalUpper(x), distuv.UnitNormal.Survival(x), x)
			for _, delta := range []float64{1e-6, 0.1, 1, 2.8, 9, 21, 37} {
				n := distuv.NoncentralT{Nu: df, Mu: delta}
				same("noncentral t", noncentralT(x, df, delta), n.CDF(x), x, df, delta)
				same("noncentral t", noncentralT(-x, df, delta), n.CDF(-x), -x, df, delta)
			}
		}
		for _, p := range []float64{0, 1e-12, 1e-4, 0.025, 0.2, 0.4999, 0.5, 0.5001, 0.8, 0.975, 0.9999, 1 - 1e-12, 1} {
			same("t quantile", TQuantile(p, df), d.Quantile(p), p, df)
			same("normal quantile", NormalQuantile(p), distuv.UnitNormal.Quantile(p), p)
			same("χ² quantile", chiSquaredQuantile(p, df), distuv.ChiSquared{K: df}.Quantile(p), p, df)
		}
	}
}

// TestMinimise holds the simplex against gonum's, to the last bit, in curved valleys.
func TestMinimise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b, steep := r.Float64(), r.Float64(), math.Exp(6*r.Float64())
		f := func(p pair) float64 {
			u, v := p[0]-a, p[1]-b*p[0]*p[0]
			return u*u + steep*v*v
		}
		start := pair{2 * r.NormFloat64(), 2 * r.NormFloat64()}
		at, least := minimise(f, start)
		want, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 { return f(pair(x)) }}, start[:],
			&optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: 1e-14, Iterations: 60}, MajorIterations: 400}, &optimize.NelderMead{})
		if err != nil || at != pair(want.X) || least != want.F {
			t.Fatalf("from %v: %v of %v, want %v of %v (%v)", start, least, at, want.F, want.X, err)
		}
	}
}
