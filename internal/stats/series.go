package stats

import (
	"math"

	"linerate/internal/show"
)

// Autocorrelation of x at a lag: how well a value predicts the one lag later (Box &
// Jenkins). NaN when x is constant or too short.
func Autocorrelation(x []float64, lag int) float64 {
	n := len(x)
	if lag < 0 || n < lag+2 {
		return math.NaN()
	}
	mean, _ := meanVariance(x)
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

// EffectiveSize is how many independent values n values with lag-1
// autocorrelation r are worth, n·(1−r)/(1+r), for a first-order process
// (Bayley & Hammersley 1946); never more than n.
func EffectiveSize(n int, r float64) float64 {
	if math.IsNaN(r) || r <= 0 {
		return float64(n)
	}
	return max(1, float64(n)*(1-r)/(1+r))
}

// change tells a change on the comparison's scale: in percent of the control, where that is
// something, else in the metric's unit.
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

// warnSeries looks at a sample in the order it was measured.
func warnSeries(c *Comparison, name string, x []float64) {
	const seen = 0.01 // a warning about nothing in one series of a hundred
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
