package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// BlockBootstrap is the percentile interval of a statistic of several
// independent series whose neighbouring observations are alike. Series i is
// cut into blocks[i] consecutive blocks; every repetition draws as many blocks
// again, with replacement, and statistic gets how often each was drawn
// (weights[i][j] of block j of series i). Blocks must be longer than the
// likeness reaches. Source: H. R. Künsch, The jackknife and the bootstrap for
// general stationary observations, Annals of Statistics 17 (1989); blocks do
// not overlap here (E. Carlstein, 1986). The spread is widened by √(n/(n−1)) of
// the shortest series, which a bootstrap of few blocks lacks.
//
// estimate is the statistic of the series as they are (all weights 1). A
// statistic that is NaN for a draw is left out; with fewer than two blocks in
// a series there is no interval.
func BlockBootstrap(blocks []int, draws int, level float64, seed uint64, statistic func(weights [][]int) float64) Interval {
	weights := make([][]int, len(blocks))
	shortest := math.MaxInt
	for i, n := range blocks {
		weights[i] = slices.Repeat([]int{1}, n)
		shortest = min(shortest, n)
	}
	estimate := statistic(weights)
	if shortest < 2 || draws < 1 {
		return noInterval(estimate, level)
	}
	r := rand.New(rand.NewPCG(seed, 0x626c6f636b73))
	values := make([]float64, 0, draws)
	for range draws {
		for i, n := range blocks {
			clear(weights[i])
			for range n {
				weights[i][r.IntN(n)]++
			}
		}
		if v := statistic(weights); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) < draws/2 || len(values) < 2 {
		return noInterval(estimate, level)
	}
	slices.Sort(values)
	widen := math.Sqrt(float64(shortest) / float64(shortest-1))
	at := func(q float64) float64 {
		v := values[min(len(values)-1, int(q*float64(len(values))))]
		return estimate + (v-estimate)*widen
	}
	return Interval{Estimate: estimate, Low: at((1 - level) / 2), High: at((1 + level) / 2), Level: level}
}
