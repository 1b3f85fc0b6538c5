package stats

import (
	"math"
	"slices"
)

// Summary describes a sample. It gives spread twice: as the standard deviation,
// which outliers inflate, and as the median absolute deviation, which they do not.
type Summary struct {
	N        int
	Min, Max float64
	Mean, SD float64 // SD has n−1 in its denominator
	Median   float64 // mean of the middle two when n is even
	MAD      float64 // median of |x − median|, not scaled
}

// Summarise describes x, without reordering it. For an empty sample it returns NaNs.
func Summarise(x []float64) Summary {
	nan := math.NaN()
	if len(x) == 0 {
		return Summary{Min: nan, Max: nan, Mean: nan, SD: nan, Median: nan, MAD: nan}
	}
	return summarise(x, ascending(x))
}

// summarise is Summarise for x, given s, the sorted x.
func summarise(x, s []float64) Summary {
	if len(x) == 0 {
		return Summarise(nil)
	}
	mean, variance := MeanVariance(x)
	med := Quantile(s, 0.5)
	return Summary{
		N: len(s), Min: s[0], Max: s[len(s)-1],
		Mean: mean, SD: math.Sqrt(variance), Median: med,
		MAD: medianDeviation(s, med),
	}
}

// CV is the coefficient of variation, SD/|mean|.
func (s Summary) CV() float64 { return s.SD / math.Abs(s.Mean) }

// Quantile is the p-quantile of sorted values, by linear interpolation
// (type 7 of Hyndman & Fan, The American Statistician 50, 1996).
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	h := p * float64(len(sorted)-1)
	i := int(math.Floor(h))
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	a, b := sorted[i], sorted[i+1]
	if a == b || h == float64(i) {
		return a
	}
	return a + (h-float64(i))*(b-a)
}

// Median returns the median of x, without reordering it.
func Median(x []float64) float64 { return Quantile(ascending(x), 0.5) }

// medianDeviation returns the MAD of sorted values.
func medianDeviation(x []float64, centre float64) float64 {
	// Deviations of sorted values fall, then rise: merge the two runs.
	d := make([]float64, 0, len(x))
	above, _ := slices.BinarySearch(x, centre)
	for below := above - 1; below >= 0 || above < len(x); {
		if above == len(x) || (below >= 0 && centre-x[below] <= x[above]-centre) {
			d = append(d, centre-x[below])
			below--
		} else {
			d = append(d, x[above]-centre)
			above++
		}
	}
	return Quantile(d, 0.5)
}

// MeanVariance returns NaN for the variance of a single value, and for the mean of none.
func MeanVariance(x []float64) (mean, variance float64) {
	mean = Mean(x)
	n, left := float64(len(x)), 0.0 // left by rounding
	for _, v := range x {
		variance += (v - mean) * (v - mean)
		left += v - mean
	}
	return mean, (variance - left*left/n) / (n - 1)
}

// logs returns the logarithms of x; ok is false if a value has none.
func logs(x []float64) (l []float64, ok bool) {
	l = make([]float64, len(x))
	for i, v := range x {
		if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, false
		}
		l[i] = math.Log(v)
	}
	return l, true
}

// ascending returns a sorted copy of x.
func ascending(x []float64) []float64 { return slices.Sorted(slices.Values(x)) }

// Mean returns the arithmetic mean; NaN if there are no values.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// TrimmedMean returns the mean after trimming a share of the values (0 ≤ share
// < 0.5) at either end, and its standard error from the winsorized variance
// (Tukey & McLaughlin, Sankhyā A 25, 1963). Without values both are NaN; with
// one, only the error is.
func TrimmedMean(values []float64, share float64) (mean, se float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	cut := int(share * float64(n))
	kept := sorted[cut : n-cut]
	mean, _ = MeanVariance(kept)
	for i := range cut {
		sorted[i], sorted[n-1-i] = kept[0], kept[len(kept)-1]
	}
	_, winsorized := MeanVariance(sorted)
	h := float64(len(kept))
	return mean, math.Sqrt(winsorized * float64(n-1) / (h * (h - 1)))
}
