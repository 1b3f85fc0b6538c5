package stats

import "math"

// CovariateAdjusted is the effect of pairs whose order was drawn by chance, at equal
// values of a covariate that the treatment does not act upon, such as the traffic of the
// two windows: d are the pairs' differences, c the covariate's, treated − control. Under
// "the effect is θ" turning a pair round changes the signs of d−θ and of c together, so
// that the slope of d−θ on c, through zero, is the same for all orders, and the residuals
// change their signs with the orders alone: their randomisation test is as exact as that
// of the differences themselves. The interval is its inversion; NaN where it has no
// limits (regression adjustment: Lin, Annals of Applied Statistics 7, 2013).
func CovariateAdjusted(d, c []float64, level float64, draws int, seed uint64) Interval {
	n := float64(len(d))
	meanD, _ := meanVariance(d)
	meanC, _ := meanVariance(c)
	var cc, dc float64
	for i := range c {
		cc, dc = cc+c[i]*c[i], dc+d[i]*c[i]
	}
	spread := cc - n*meanC*meanC
	if len(d) < LeastPairs || !(spread > 1e-12*cc) {
		return noInterval(math.NaN(), level)
	}
	out := noInterval((meanD*cc-meanC*dc)/spread, level)
	keeps := func(theta float64) bool {
		b := (dc - theta*n*meanC) / cc
		e := make([]float64, len(d))
		for i := range d {
			e[i] = d[i] - theta - b*c[i]
		}
		return Randomise(e, draws, seed).P(0) > 1-level
	}
	_, variance := meanVariance(d)
	se := math.Sqrt(variance / n)
	out.Low, out.High = limit(keeps, out.Estimate, -1, se), limit(keeps, out.Estimate, 1, se)
	return out
}

// limit looks for the end of what a test keeps, from the estimate in one direction; NaN
// where there is none within thousands of standard errors.
func limit(keeps func(float64) bool, from, direction, se float64) float64 {
	step := max(se, 1e-12*math.Abs(from))
	out := from + direction*step
	for range 12 {
		if !keeps(out) {
			in := from
			for range 16 {
				if mid := (in + out) / 2; keeps(mid) {
					in = mid
				} else {
					out = mid
				}
			}
			return out
		}
		step *= 2
		out += direction * step
	}
	return math.NaN()
}
