package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts p-values so that rejecting those ≤ α keeps the chance of any
// false rejection at α, whatever their dependence (Holm, Scand. J. Statist.
// 6, 1979). The order of p is kept; NaNs stay NaN and do not count.
func Holm(p []float64) []float64 {
	return adjust(p, func(sorted []float64) {
		m := float64(len(sorted))
		high := 0.0
		for i := range sorted {
			high = max(high, min(1, (m-float64(i))*sorted[i]))
			sorted[i] = high
		}
	})
}

// adjust applies a step procedure to the ascending p-values, back in order.
func adjust(p []float64, step func(sorted []float64)) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	sorted := make([]float64, len(order))
	for k, i := range order {
		sorted[k] = p[i]
	}
	step(sorted)
	out := slices.Clone(p)
	for k, i := range order {
		out[i] = sorted[k]
	}
	return out
}
