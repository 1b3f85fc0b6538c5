package stats

import (
	"cmp"
	"math"
	"slices"
)

// Equivalence is the outcome of two one-sided tests (TOST): whether the effect is
// shown to lie within ±margin. "No difference shown" does not imply it.
type Equivalence struct {
	Low, High float64  // the margins, on the scale of the test
	P         float64  // the larger of the two one-sided p-values
	Interval  Interval // the 1−2α interval; equivalent at α when inside the margins
}

// TOST runs two one-sided tests of an estimate against margins (Schuirmann,
// J. Pharmacokinet. Biopharm. 15, 1987). low must be below high.
func TOST(t Test, low, high, alpha float64) Equivalence {
	e := Equivalence{Low: low, High: high, P: math.NaN()}
	e.Interval = newTest(t.Estimate, t.SE, t.DF, 1-2*alpha).Interval
	if math.IsNaN(t.SE) || !(t.DF > 0) {
		return e
	}
	if t.SE == 0 {
		e.P = 1
		if low < t.Estimate && t.Estimate < high {
			e.P = 0
		}
		return e
	}
	aboveLow := UpperT((t.Estimate-low)/t.SE, t.DF)
	belowHigh := UpperT((high-t.Estimate)/t.SE, t.DF)
	e.P = max(aboveLow, belowHigh)
	return e
}

// RatioMargins returns the log margins of "within ±percent": a ratio between
// 1/(1+percent/100) and 1+percent/100, so that swapping the two arms does not
// change the verdict.
func RatioMargins(percent float64) (low, high float64) {
	m := math.Log1p(percent / 100)
	return -m, m
}

// Holm adjusts p-values so that rejecting those ≤ α keeps the probability of any
// false rejection at α, whatever their dependence (Holm, Scand. J. Statist. 6,
// 1979). The order of p is preserved; NaNs stay NaN and do not count.
func Holm(p []float64) []float64 {
	var order []int // ascending
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, high := slices.Clone(p), 0.0
	for k, i := range order {
		high = max(high, min(1, float64(len(order)-k)*p[i]))
		out[i] = high
	}
	return out
}
