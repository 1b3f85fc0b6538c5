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
		est += (nextDifference(a, b, est, pairs/2+1) - est) / 2
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
// making the list. A bracket of values is narrowed, counting the differences
// in one walk of both samples per step, until few enough are left to list and
// sort. Rounded subtraction is monotone, so the answer is exactly the k-th
// value a program that made the list would find.
func selectDifference(a, b []float64, k int) float64 {
	low, high := math.Nextafter(b[0]-a[len(a)-1], math.Inf(-1)), b[len(b)-1]-a[0]
	below, upTo := 0, len(a)*len(b) // differences ≤ low, ≤ high
	for step := 0; upTo-below > len(a)+len(b); step++ {
		mid := probe(step, low, high, float64(k-below)/float64(upTo-below))
		if mid >= high || mid <= low {
			return high // neighbours in floating point: all left are equal
		}
		if c := countDifferences(a, b, mid); c >= k {
			high, upTo = mid, c
		} else {
			low, below = mid, c
		}
	}
	left := listDifferences(a, b, low, high)
	slices.Sort(left)
	return left[k-below-1]
}

// probe proposes a value inside a bracket: by turns where the rank sought
// would be if values were even, in the middle, and in the middle of the
// floating-point numbers, which bounds the steps whatever the values are.
func probe(step int, low, high, part float64) float64 {
	switch step % 3 {
	case 0:
		if mid := low + part*(high-low); low < mid && mid < high {
			return mid
		}
	case 1:
		if mid := low + (high-low)/2; low < mid && mid < high {
			return mid
		}
	}
	l, h := order(low), order(high)
	return unorder(l + int64(uint64(h-l)/2))
}

// listDifferences lists the differences in (low, high].
func listDifferences(a, b []float64, low, high float64) []float64 {
	var out []float64
	first := 0
	for _, y := range b {
		for first < len(a) && y-a[first] > high {
			first++
		}
		for i := first; i < len(a) && y-a[i] > low; i++ {
			out = append(out, y-a[i])
		}
	}
	return out
}

// nextDifference is the k-th smallest difference when the one before it is v.
func nextDifference(a, b []float64, v float64, k int) float64 {
	if countDifferences(a, b, v) >= k {
		return v
	}
	next, i := math.Inf(1), 0
	for _, y := range b {
		for i < len(a) && y-a[i] > v {
			i++
		}
		if i > 0 {
			next = min(next, y-a[i-1])
		}
	}
	return next
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
