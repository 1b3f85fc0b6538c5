package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// USL is a fit of the Universal Scalability Law (Gunther, Guerrilla Capacity
// Planning, 2007): throughput with N cores is γN/(1 + σ(N−1) + κN(N−1)).
type USL struct {
	Gamma Interval // throughput of one core
	Sigma Interval // contention: the share that is serial, 0 to 1
	Kappa Interval // coherency: the cost of agreeing, 0 or more
	// Peak is the number of cores beyond which more make it slower,
	// √((1−σ)/κ); infinite when κ is 0.
	Peak     Interval
	Warnings []Warning
}

// What the law's terms are at least before they count as limits: a fit of
// rates that scale keeps them above zero, by what rounding leaves.
const (
	leastSigma = 1e-3
	leastKappa = 1e-4
)

// Limit says in words what limits, as far as the intervals tell.
func (u USL) Limit() string {
	switch {
	case u.Sigma.High < 0.01 && u.Kappa.High < 0.001:
		return "It scales: nothing that cores share is seen to limit."
	case u.Kappa.Low > leastKappa && u.Kappa.Estimate > u.Sigma.Estimate/10:
		return "Cores slow each other down: look for cache lines that all of them write (counters, reference counts, a shared queue)."
	case u.Sigma.Low > leastSigma:
		return "A share is serial: look for a lock that all cores take."
	}
	return "These rates do not tell contention from coherency: measure more numbers of cores."
}

func uslAt(gamma, sigma, kappa, n float64) float64 {
	return gamma * n / (1 + sigma*(n-1) + kappa*n*(n-1))
}

// FitUSL fits the law to throughputs x at core counts n by least squares of
// the logarithms, with σ in [0, 1] and κ ≥ 0, and gives percentile intervals
// from draws bootstrap resamples of the residuals. It needs four different
// core counts: three would be fitted whatever they are.
func FitUSL(n, x []float64, draws int, level float64, seed uint64) (USL, error) {
	if err := checkUSL(n, x); err != nil {
		return USL{}, err
	}
	g, s, k := fitUSL(n, x, uslStarts)
	residuals := make([]float64, len(x))
	for i := range x {
		residuals[i] = math.Log(x[i] / uslAt(g, s, k, n[i]))
	}
	// Least squares makes residuals smaller than errors are.
	scale := math.Sqrt(float64(len(x)) / float64(max(1, len(x)-3)))
	r := rand.New(rand.NewPCG(seed, 0x051))
	boots := [4][]float64{}
	y := make([]float64, len(x))
	// Resamples start from the fit, off the bounds, where the squares are flat.
	start := [][]float64{{math.Asin(math.Sqrt(s)) + 0.02, math.Sqrt(k) + 0.002}}
	for range draws {
		for i := range y {
			y[i] = uslAt(g, s, k, n[i]) * math.Exp(scale*residuals[r.IntN(len(residuals))])
		}
		bg, bs, bk := fitUSL(n, y, start)
		for j, v := range []float64{bg, bs, bk, peak(bs, bk)} {
			boots[j] = append(boots[j], v)
		}
	}
	interval := func(estimate float64, boot []float64) Interval {
		slices.Sort(boot)
		tail := (1 - level) / 2
		return Interval{Estimate: estimate, Low: Quantile(boot, tail), High: Quantile(boot, 1-tail), Level: level}
	}
	u := USL{Gamma: interval(g, boots[0]), Sigma: interval(s, boots[1]), Kappa: interval(k, boots[2]), Peak: interval(peak(s, k), boots[3])}
	if u.Peak.Estimate > 2*slices.Max(n) {
		u.Warnings = append(u.Warnings, Warning{Extrapolated, "the peak lies beyond twice the cores measured", "do not extrapolate; measure with more cores"})
	}
	return u, nil
}

func checkUSL(n, x []float64) error {
	if len(n) != len(x) {
		return errors.New("as many core counts as throughputs are needed")
	}
	for i := range n {
		if !(n[i] >= 1) || !(x[i] > 0) || math.IsInf(n[i], 0) || math.IsInf(x[i], 0) {
			return errors.New("core counts must be 1 or more and throughputs positive")
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(n)))) < 4 {
		return errors.New("the scalability law needs four different core counts or more")
	}
	return nil
}

func peak(sigma, kappa float64) float64 {
	if kappa <= 0 {
		return math.Inf(1)
	}
	return math.Sqrt(max(0, 1-sigma) / kappa)
}

// uslStarts are where the search for a fit begins: little, much and hardly any
// contention.
var uslStarts = [][]float64{{0.2, 0.03}, {0.7, 0.3}, {0.02, 0.002}}

// fitUSL minimises over σ and κ; γ follows in closed form. Squares and a sine
// keep the parameters in bounds and let them reach zero.
func fitUSL(n, x []float64, starts [][]float64) (gamma, sigma, kappa float64) {
	unpack := func(p []float64) (s, k float64) { t := math.Sin(p[0]); return t * t, p[1] * p[1] }
	residuals := make([]float64, len(n))
	logGamma := func(s, k float64) float64 {
		for i := range n {
			residuals[i] = math.Log(x[i] / uslAt(1, s, k, n[i]))
		}
		m, _ := meanVariance(residuals)
		return m
	}
	loss := func(p []float64) float64 {
		g, sum := logGamma(unpack(p)), 0.0
		for _, v := range residuals {
			sum += (v - g) * (v - g)
		}
		return sum
	}
	best, at := math.Inf(1), []float64{0, 0}
	for _, start := range starts {
		r, err := optimize.Minimize(optimize.Problem{Func: loss}, start,
			&optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: 1e-14, Iterations: 60}, MajorIterations: 400},
			&optimize.NelderMead{})
		if r != nil && (err == nil || r.F < best) && r.F < best {
			best, at = r.F, r.X
		}
	}
	sigma, kappa = unpack(at)
	return math.Exp(logGamma(sigma, kappa)), sigma, kappa
}
