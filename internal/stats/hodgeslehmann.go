package stats

import (
	"math"
	"slices"
)

// hodgesLehmann is the median of all differences b − a of sorted samples,
// with the order-statistic interval [D(c+1), D(nm−c)].
func hodgesLehmann(a, b []float64, level float64) Interval {
	n, m := len(a), len(b)
	pairs := n * m
	est := selectDifference(a, b, (pairs+1)/2)
	if pairs%2 == 0 {
		est += (selectDifference(a, b, pairs/2+1) - est) / 2
	}
	c, p := RankCritical(n, m, 1-level)
	if c < 0 {
		return noInterval(est, level)
	}
	return Interval{
		Estimate: est, Level: 1 - 2*p,
		Low:  selectDifference(a, b, c+1),
		High: selectDifference(a, b, pairs-c),
	}
}

// selectDifference is the k-th smallest (k from 1) of all b[j] − a[i] without
// making the list: it bisects over the floating-point numbers themselves,
// counting differences in one walk of both samples per step. Rounded
// subtraction is monotone, so the answer is exactly the k-th value a program
// that made the list would find, in at most 64 walks.
func selectDifference(a, b []float64, k int) float64 {
	low, high := order(b[0]-a[len(a)-1]), order(b[len(b)-1]-a[0])
	for low < high {
		mid := low + int64(uint64(high-low)/2)
		if countDifferences(a, b, unorder(mid)) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return unorder(low)
}

// countDifferences is how many b[j] − a[i] are ≤ v. As b grows, fewer of the
// small values of a qualify.
func countDifferences(a, b []float64, v float64) int {
	count, i := 0, 0
	for _, y := range b {
		for i < len(a) && y-a[i] > v {
			i++
		}
		count += len(a) - i
	}
	return count
}

// order maps floats to integers of the same order; unorder is its inverse.
func order(f float64) int64 {
	if f == 0 {
		return 0 // −0 and +0 are one value
	}
	i := int64(math.Float64bits(f))
	if i < 0 {
		return math.MinInt64 - i
	}
	return i
}

func unorder(i int64) float64 {
	if i < 0 {
		return math.Float64frombits(uint64(math.MinInt64 - i))
	}
	return math.Float64frombits(uint64(i))
}

// HodgesLehmann estimates the shift from a to b: the median of all
// differences, with its distribution-free interval (Hodges & Lehmann 1963).
// It is not the difference of medians.
func HodgesLehmann(a, b []float64, level float64) Interval {
	sa, sb := slices.Clone(a), slices.Clone(b)
	slices.Sort(sa)
	slices.Sort(sb)
	if len(sa) == 0 || len(sb) == 0 {
		return noInterval(math.NaN(), level)
	}
	return hodgesLehmann(sa, sb, level)
}
