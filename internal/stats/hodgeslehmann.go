package stats

import (
	"cmp"
	"math"
	"slices"
)

// hodgesLehmann estimates the shift from a to b: the median of all differences
// of sorted samples, with its distribution-free interval [D(c+1), D(nm−c)]
// (Hodges & Lehmann 1963). It is not the difference of medians.
func hodgesLehmann(a, b []float64, level float64) Interval {
	n, m := len(a), len(b)
	pairs := n * m
	d := newDifferences(a, b)
	est := d.nth((pairs + 1) / 2)
	if pairs%2 == 0 {
		est += (nextDifference(a, b, est, pairs/2+1) - est) / 2
	}
	c, p := RankCritical(n, m, 1-level)
	if c < 0 {
		return noInterval(est, level)
	}
	return Interval{Estimate: est, Level: 1 - 2*p, Low: d.nth(c + 1), High: d.nth(pairs - c)}
}

// differences answers for order statistics of all b[j] − a[i] of two sorted
// samples without making the list. What one answer learns serves the next.
type differences struct {
	a, b   []float64
	probes []probe // ascending
	thin   *differences
}

// probe is a value and how many differences are at most it.
type probe struct {
	at    float64
	count int
}

// thinned is how many values of each sample a first guess looks at.
const thinned = 256

func newDifferences(a, b []float64) *differences {
	d := &differences{a: a, b: b, probes: []probe{
		{math.Nextafter(b[0]-a[len(a)-1], math.Inf(-1)), 0}, {b[len(b)-1] - a[0], len(a) * len(b)},
	}}
	if len(a) > 8*thinned && len(b) > 8*thinned {
		d.thin = newDifferences(thin(a), thin(b))
	}
	return d
}

// thin takes evenly spaced order statistics.
func thin(x []float64) []float64 {
	out := make([]float64, thinned)
	for i := range out {
		out[i] = x[(2*i+1)*len(x)/(2*thinned)]
	}
	return out
}

// nth is the k-th smallest difference (k from 1). A bracket of values is
// narrowed, counting the differences in one walk of both samples per step,
// until few enough are left to list and sort. Rounded subtraction is
// monotone, so the answer is exactly the k-th value that a program that made
// the list would find.
func (d *differences) nth(k int) float64 {
	for step := 0; ; step++ {
		low, high := d.bracket(k)
		if high.count-low.count <= len(d.a)+len(d.b) {
			left := listDifferences(d.a, d.b, low.at, high.at)
			SortFloats(left)
			return left[k-low.count-1]
		}
		mid := d.guess(step, k, low, high)
		if mid >= high.at || mid <= low.at {
			return high.at // neighbours in floating point: all left are equal
		}
		d.learn(probe{mid, countDifferences(d.a, d.b, mid)})
	}
}

// bracket are the nearest probes around the k-th difference.
func (d *differences) bracket(k int) (low, high probe) {
	i, _ := slices.BinarySearchFunc(d.probes, k, func(p probe, k int) int { return cmp.Compare(p.count, k) })
	return d.probes[i-1], d.probes[i]
}

func (d *differences) learn(p probe) {
	i, _ := slices.BinarySearchFunc(d.probes, p.at, func(q probe, at float64) int { return cmp.Compare(q.at, at) })
	d.probes = slices.Insert(d.probes, i, p)
}

// guess proposes a value inside a bracket. The first are where thinned
// samples suggest (near). After that come, by turns, where the rank would be
// if values were even, the middle, and the middle of the floating-point
// numbers, which bounds the steps whatever the values are.
func (d *differences) guess(step, k int, low, high probe) float64 {
	l, h := low.at, high.at
	if d.thin != nil && step < 4 {
		if mid := d.near(step, k, low, high); l < mid && mid < h {
			return mid
		}
	}
	switch step % 3 {
	case 0:
		if mid := l + float64(k-low.count)/float64(high.count-low.count)*(h-l); l < mid && mid < h {
			return mid
		}
	case 1:
		if mid := l + (h-l)/2; l < mid && mid < h {
			return mid
		}
	}
	lo, hi := order(l), order(h)
	return unorder(lo + int64(uint64(hi-lo)/2))
}

// near is, first, the value of the same rank among the thinned samples'
// differences; then a step from the nearer probe, by their slope there, to
// just beyond the rank sought: what the two enclose is nearly always little.
func (d *differences) near(step, k int, low, high probe) float64 {
	pairs, few := len(d.a)*len(d.b), len(d.thin.a)*len(d.thin.b)
	rank := func(k int) int { return min(few, max(1, int(float64(k)/float64(pairs)*float64(few)))) }
	if step == 0 {
		return d.thin.nth(rank(k))
	}
	wide := pairs / 64
	from, to := rank(k-wide), rank(k+wide)
	slope := (d.thin.nth(to) - d.thin.nth(from)) / (float64(to-from) / float64(few) * float64(pairs))
	beyond := (len(d.a) + len(d.b)) / 6
	if k-low.count < high.count-k {
		return low.at + float64(k+beyond-low.count)*slope
	}
	return high.at - float64(high.count-k+beyond)*slope
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
	count, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		// Which of the two comes next is as good as chance: a step without
		// a branch is twice as fast.
		up := 0
		if b[j]-a[i] > v {
			up = 1
		}
		count += (len(a) - i) * (1 - up)
		i += up
		j += 1 - up
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
