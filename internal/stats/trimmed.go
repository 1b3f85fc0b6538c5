package stats

import (
	"math"
	"slices"
)

// TrimmedMean is the mean of what is left when a share of the values (0 ≤
// share < 0.5) is cut off at either end, and its standard error from the
// winsorized variance (Tukey & McLaughlin, Sankhyā A 25, 1963). Without values
// both are NaN; with one, the error is.
func TrimmedMean(values []float64, share float64) (mean, se float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	cut := int(share * float64(n))
	kept := sorted[cut : n-cut]
	mean, _ = meanVariance(kept)
	for i := range cut {
		sorted[i], sorted[n-1-i] = kept[0], kept[len(kept)-1]
	}
	_, winsorized := meanVariance(sorted)
	h := float64(len(kept))
	return mean, math.Sqrt(winsorized * float64(n-1) / (h * (h - 1)))
}
