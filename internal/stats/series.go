package stats

import (
	"math"

	"linerate/internal/show"
)

// Autocorrelation returns the autocorrelation of x at a lag (Box & Jenkins); NaN if
// x is constant or too short.
func Autocorrelation(x []float64, lag int) float64 {
	n := len(x)
	if lag < 0 || n < lag+2 {
		return math.NaN()
	}
	mean, _ := MeanVariance(x)
	var num, den float64
	for i, v := range x {
		den += (v - mean) * (v - mean)
		if i+lag < n {
			num += (v - mean) * (x[i+lag] - mean)
		}
	}
	if den == 0 {
		return math.NaN()
	}
	return num / den
}

// EffectiveSize returns the number of independent values equivalent to n
// values with lag-1 autocorrelation r, n·(1−r)/(1+r), for a first-order
// process (Bayley & Hammersley 1946); at most n.
func EffectiveSize(n int, r float64) float64 {
	if math.IsNaN(r) || r <= 0 {
		return float64(n)
	}
	return max(1, float64(n)*(1-r)/(1+r))
}

// change formats a change on the comparison's scale: in percent of the control if that is
// nonzero, else in the metric's unit.
func (c *Comparison) change(by float64) string {
	switch percent := c.percent(by); {
	case c.Share:
		return show.SignedPoints(points(by))
	case math.IsNaN(percent):
		return show.SignedValue(by)
	default:
		return show.SignedPercent(percent)
	}
}

// warnSeries checks a sample in the order of measurement.
func warnSeries(c *Comparison, name string, x []float64) {
	const seen = 0.01 // one false warning in a hundred series
	at := make([]float64, len(x))
	for i := range at {
		at[i] = float64(i)
	}
	if t, ok := Slope(at, x); ok && len(x) >= 5 && t.P < seen {
		fifth := max(1, len(x)/5)
		c.warn(Drift, "alternate the arms in randomised blocks (linerate study), or wait until the machine is steady",
			"%s drifts by %s from its first to its last fifth (of no slope %s)", name, c.change(Median(x[len(x)-fifth:])-Median(x[:fifth])), show.PIs(t.P))
		return
	}
	r := Autocorrelation(x, 1)
	if len(x) >= 10 && r > 0.2 && r > NormalQuantile(1-seen)/math.Sqrt(float64(len(x))) {
		c.warn(Correlated, "use one value per trial after a reset, not rows of one run",
			"%s: neighbours correlate by %.2f, so %d values are worth about %.0f", name, r, len(x), EffectiveSize(len(x), r))
	}
}

// OutlierLimit returns the modified z score beyond which a value of a sample
// of n is flagged: one normal sample in a hundred has such a value. Iglewicz
// and Hoaglin's fixed 3.5 (How to Detect and Handle Outliers, 1993) would
// flag a value in a fifth of all samples of five, whose MAD is often tiny by
// chance, and in every sample of a hundred thousand. The limit is the normal
// quantile, times a factor for the scatter of the MAD, fitted to 20,000
// simulated samples of each size from 3 to 1,000.
func OutlierLimit(n int) float64 {
	fn := float64(n)
	return NormalQuantile(1-0.005/fn) * (1 + 10/fn + math.Pow(6.5/fn, 4))
}

// FindOutliers returns the indices of values whose modified z score,
// 0.6745·(x − median)/MAD, exceeds OutlierLimit in absolute value. They are
// for people to look at: nothing in this package drops a value. If more than
// half of the values are equal, the mean absolute deviation replaces the MAD
// (1.2533·), as Iglewicz and Hoaglin advise.
func FindOutliers(x []float64) []int {
	if len(x) < 4 {
		return nil
	}
	s := ascending(x)
	med := Quantile(s, 0.5)
	scale := medianDeviation(s, med) / 0.6745
	if scale == 0 {
		for _, v := range x {
			scale += 1.2533 * math.Abs(v-med) / float64(len(x))
		}
	}
	if scale == 0 {
		return nil
	}
	limit := OutlierLimit(len(x))
	var out []int
	for i, v := range x {
		if math.Abs(v-med)/scale > limit {
			out = append(out, i)
		}
	}
	return out
}
