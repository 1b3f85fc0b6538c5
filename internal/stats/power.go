package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// power returns the power of a two-sided t test with critical value crit if the true
// effect is effectInSE standard errors: the noncentral t's probability beyond ±crit. Its
// square is a noncentral F, a Poisson mixture of beta variables.
func power(effectInSE, df, crit float64) float64 {
	d := min(37, math.Abs(effectInSE)) // beyond it weights underflow; the power is 1 well before, unless df is tiny
	x, weight, within := crit*crit/(df+crit*crit), math.Exp(-d*d/2), 0.0
	for j, left := 0.0, 1.0; left > 1e-12 && j < 2000; j++ {
		within += weight * mathext.RegIncBeta(j+0.5, df/2, x)
		left -= weight
		weight *= d * d / 2 / (j + 1)
	}
	return min(1, max(0, 1-within))
}

// DetectableEffect returns the smallest true effect, in standard errors, that
// a two-sided t test at alpha detects with the wanted power. NaN without
// degrees of freedom.
func DetectableEffect(df, alpha, wanted float64) float64 {
	if !(df > 0) {
		return math.NaN()
	}
	low, high := 0.0, 1.0
	crit := TQuantile(1-alpha/2, df)
	for power(high, df, crit) < wanted {
		if high >= 37 { // df 1 and 2: beyond the series, the tail of t decides
			return crit * math.Sqrt(2*mathext.GammaIncRegInv(df/2, wanted)/df)
		}
		low, high = high, min(37, 2*high)
	}
	return bisect(low, high, 60, func(v float64) bool { return power(v, df, crit) < wanted })
}

// bisect halves a range the given number of times around the point where a condition that
// holds at its low end ceases to hold, and returns the high end of the rest.
func bisect(low, high float64, times int, holds func(float64) bool) float64 {
	for range times {
		if mid := (low + high) / 2; holds(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// MinimumDetectableEffect returns the effect, as a log ratio, that n blocks
// would detect with the given power if their log ratios scatter with standard
// deviation sd.
func MinimumDetectableEffect(sd float64, n int, alpha, power float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	return DetectableEffect(float64(n-1), alpha, power) * sd / math.Sqrt(float64(n))
}

// BlocksFor returns how many blocks a paired study needs to detect a log
// ratio of effect with the given power, if block-wise log ratios scatter with
// sd. It is 0 if more than limit are needed.
func BlocksFor(sd, effect, alpha, power float64, limit int) int {
	enough := func(n int) bool { return MinimumDetectableEffect(sd, n, alpha, power) <= math.Abs(effect) }
	return firstEnough(2, limit, enough)
}

// SamplesFor is BlocksFor for two independent samples of equal size: it
// returns the values per side.
func SamplesFor(sd, effect, alpha, power float64, limit int) int {
	enough := func(n int) bool { return TwoSampleDetectable(sd, n, n, alpha, power) <= math.Abs(effect) }
	return firstEnough(2, limit, enough)
}

// TwoSampleDetectable returns the minimum detectable difference of means of
// two independent samples with common standard deviation sd.
func TwoSampleDetectable(sd float64, n, m int, alpha, power float64) float64 {
	df := float64(n + m - 2)
	return DetectableEffect(df, alpha, power) * sd * math.Sqrt(1/float64(n)+1/float64(m))
}

// firstEnough returns the smallest n in [low, limit] that meets a condition
// which, once true, stays true; 0 if there is none.
func firstEnough(low, limit int, enough func(int) bool) int {
	if limit < low || !enough(limit) {
		return 0
	}
	return low + sort.Search(limit-low, func(i int) bool { return enough(low + i) })
}
