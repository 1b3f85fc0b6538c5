package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// power of a two-sided t test with the critical value crit, when the true effect is
// effectInSE standard errors: the noncentral t's share beyond ±crit.
func power(effectInSE, df, crit float64) float64 {
	d := math.Abs(effectInSE)
	if d > 37 { // the noncentral series underflows; the power is 1 long before, unless df is tiny
		d = 37
	}
	t := distuv.NoncentralT{Nu: df, Mu: d}
	return min(1, max(0, 1-t.CDF(crit)+t.CDF(-crit)))
}

// DetectableEffect is the smallest true effect, in standard errors, that a
// two-sided t test at alpha finds with the wanted power. NaN without degrees
// of freedom.
func DetectableEffect(df, alpha, wanted float64) float64 {
	if !(df > 0) {
		return math.NaN()
	}
	low, high := 0.0, 1.0
	crit := TQuantile(1-alpha/2, df)
	for power(high, df, crit) < wanted {
		if high >= 37 { // df 1 and 2: beyond the series, t's own tail decides
			return crit * math.Sqrt(distuv.ChiSquared{K: df}.Quantile(wanted)/df)
		}
		low, high = high, min(37, 2*high)
	}
	return bisect(low, high, 60, func(v float64) bool { return power(v, df, crit) < wanted })
}

// bisect halves a range so many times about where a condition that holds at its low end ceases
// to, and returns the high end of what is left.
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

// MinimumDetectableEffect of n blocks whose log ratios scatter with the given
// standard deviation, as a log ratio: what the study would have found with the
// given power, had it been there.
func MinimumDetectableEffect(sd float64, n int, alpha, power float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	return DetectableEffect(float64(n-1), alpha, power) * sd / math.Sqrt(float64(n))
}

// BlocksFor is how many blocks a paired study needs to find a log ratio of
// effect with the given power, when block-wise log ratios scatter with sd.
// It is 0 when more than limit would be needed.
func BlocksFor(sd, effect, alpha, power float64, limit int) int {
	enough := func(n int) bool { return MinimumDetectableEffect(sd, n, alpha, power) <= math.Abs(effect) }
	return firstEnough(2, limit, enough)
}

// SamplesFor is BlocksFor for two independent samples of equal size: values
// per side.
func SamplesFor(sd, effect, alpha, power float64, limit int) int {
	enough := func(n int) bool { return TwoSampleDetectable(sd, n, n, alpha, power) <= math.Abs(effect) }
	return firstEnough(2, limit, enough)
}

// TwoSampleDetectable is the minimum detectable difference of means of two
// independent samples with common standard deviation sd.
func TwoSampleDetectable(sd float64, n, m int, alpha, power float64) float64 {
	df := float64(n + m - 2)
	return DetectableEffect(df, alpha, power) * sd * math.Sqrt(1/float64(n)+1/float64(m))
}

// firstEnough finds the smallest n in [low, limit] for a condition that once
// true stays true; 0 when none is.
func firstEnough(low, limit int, enough func(int) bool) int {
	if limit < low || !enough(limit) {
		return 0
	}
	return low + sort.Search(limit-low, func(i int) bool { return enough(low + i) })
}
