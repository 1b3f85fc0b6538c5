package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ChangePoint is where a series' distribution changes.
type ChangePoint struct {
	Index  int     // of the first value after the change
	P      float64 // of the split, by permutation
	Before float64 // medians of the segments on either side
	After  float64
}

// maxSeries bounds change point detection, whose cost grows with the square.
const maxSeries = 2000

// ChangePoints finds where the distribution of a series changes, without
// assuming a shape: E-divisive (Matteson & James, JASA 109, 2014). The split
// that maximises the energy distance between its two sides is kept while a
// permutation test within segments gives a p at or below alpha. Segments keep
// at least minimum values (2 or more). Series over 2,000 values are refused
// with nil: summarise them first.
func ChangePoints(x []float64, minimum int, alpha float64, permutations int, seed uint64) []ChangePoint {
	minimum = max(2, minimum)
	if len(x) > maxSeries {
		return nil
	}
	r := rand.New(rand.NewPCG(seed, 0xed1))
	edges := []int{0, len(x)}
	var found []ChangePoint
	for {
		at, score := bestOfAll(x, edges, minimum)
		if at < 0 {
			break
		}
		p := splitP(x, edges, minimum, score, alpha, permutations, r)
		if p > alpha {
			break
		}
		found = append(found, ChangePoint{Index: at, P: p})
		edges = append(edges, at)
		slices.Sort(edges)
	}
	slices.SortFunc(found, func(a, b ChangePoint) int { return a.Index - b.Index })
	for i := range found {
		k, _ := slices.BinarySearch(edges, found[i].Index)
		found[i].Before = Median(x[edges[k-1]:edges[k]])
		found[i].After = Median(x[edges[k]:edges[k+1]])
	}
	return found
}

// LeastChangeP is the smallest p that ChangePoints can give the first change of a series of n
// values: all orders within its two sides split as well, and so does their exchange.
func LeastChangeP(n, permutations int) float64 {
	ways := 1.0 // n over n/2
	for i := 1; i <= n/2; i++ {
		ways *= float64(n-n/2+i) / float64(i)
	}
	return max(min(1, 2/ways), 1/float64(permutations+1))
}

// bestOfAll is the best split over all segments; at is −1 when none is long
// enough.
func bestOfAll(x []float64, edges []int, minimum int) (at int, score float64) {
	at = -1
	for i := 1; i < len(edges); i++ {
		from, to := edges[i-1], edges[i]
		if k, s := bestSplit(x[from:to], minimum); k >= 0 && (at < 0 || s > score) {
			at, score = from+k, s
		}
	}
	return at, score
}

// splitP is the share of permutations within segments that split at least as
// well. Once it cannot come to alpha or less any more, it ends: 1.
func splitP(x []float64, edges []int, minimum int, score, alpha float64, permutations int, r *rand.Rand) float64 {
	y := slices.Clone(x)
	better := 1
	for range permutations {
		if float64(better) > alpha*float64(permutations+1) {
			return 1
		}
		for i := 1; i < len(edges); i++ {
			segment := y[edges[i-1]:edges[i]]
			r.Shuffle(len(segment), func(a, b int) { segment[a], segment[b] = segment[b], segment[a] })
		}
		if _, s := bestOfAll(y, edges, minimum); s >= score {
			better++
		}
	}
	return float64(better) / float64(permutations+1)
}

// bestSplit maximises the scaled energy distance (with exponent 1) between
// x[:k] and x[k:]. Moving one value across updates the three sums of
// distances, so all splits cost one pass over the pairs.
func bestSplit(x []float64, minimum int) (at int, score float64) {
	n := len(x)
	if n < 2*minimum {
		return -1, 0
	}
	var left, right, across float64
	for i := range x {
		for _, v := range x[:i] {
			right += math.Abs(x[i] - v)
		}
	}
	at = -1
	for k := 1; k < n; k++ {
		moved := x[k-1]
		for _, v := range x[:k-1] {
			d := math.Abs(v - moved)
			left += d
			across -= d
		}
		for _, v := range x[k:] {
			d := math.Abs(v - moved)
			right -= d
			across += d
		}
		if k < minimum || n-k < minimum {
			continue
		}
		a, b := float64(k), float64(n-k)
		energy := 2*across/(a*b) - 2*left/(a*(a-1)) - 2*right/(b*(b-1))
		if s := a * b / (a + b) * energy; at < 0 || s > score {
			at, score = k, s
		}
	}
	return at, score
}
