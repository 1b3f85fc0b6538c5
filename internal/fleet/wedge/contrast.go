package wedge

import (
	"math"
	"math/rand/v2"
	"slices"

	"linerate/internal/stats"
)

// contrast compares units that have the treatment with those that do not, column by column,
// within blocks of units that could have exchanged slots.
type contrast struct {
	blocks [][]int     // units
	slots  []int       // of each unit
	values [][]float64 // of a unit in each column
	// on reports whether a unit in a slot has the treatment in a column.
	on func(slot, column int) bool
	// had is 1 if a unit had it in a column, else 0, minus the mean over its block.
	had [][]float64
	// sums holds, for each unit and slot, the sum of the unit's centred values over the treated
	// columns; agree is the same for had.
	sums, agree [][]float64
	size        float64
}

// prepare computes the sums; all slots are below most.
func (c *contrast) prepare(most int) {
	n := len(c.slots)
	c.had, c.sums, c.agree = make([][]float64, n), make([][]float64, n), make([][]float64, n)
	for u, values := range c.values {
		c.had[u] = make([]float64, len(values))
		for k := range values {
			if c.on(c.slots[u], k) {
				c.had[u][k] = 1
			}
		}
	}
	centre(c.blocks, c.had)
	centre(c.blocks, c.values)
	for u := range c.slots {
		c.sums[u], c.agree[u] = make([]float64, most), make([]float64, most)
		for s := range most {
			for k := range c.had[u] {
				if c.on(s, k) {
					c.sums[u][s] += c.values[u][k]
					c.agree[u][s] += c.had[u][k]
				}
			}
		}
	}
	c.size = total(c.agree, c.slots)
}

// centre subtracts the block's means from each unit's values.
func centre(blocks [][]int, values [][]float64) {
	for _, b := range blocks {
		for k := range values[b[0]] {
			mean := 0.0
			for _, u := range b {
				mean += values[u][k] / float64(len(b))
			}
			for _, u := range b {
				values[u][k] -= mean
			}
		}
	}
}

func total(of [][]float64, slots []int) (sum float64) {
	for u, s := range slots {
		sum += of[u][s]
	}
	return sum
}

// test compares with other assignments of the same slots. Under an effect of θ, the units'
// values, minus θ where they had the treatment, do not depend on the assignment: one with
// estimate a, which agrees with the drawn one by the share c, is as extreme from θ = (estimate −
// a)/(1 − c) on.
func (c *contrast) test(draws int, r *rand.Rand) stats.Randomization {
	if !(c.size > 1e-9) {
		return stats.Invert(math.NaN(), 0, nil, 0)
	}
	estimate := total(c.sums, c.slots) / c.size
	typical, same := make([]float64, 0, draws), 0
	slots := slices.Clone(c.slots)
	for range draws {
		for _, b := range c.blocks {
			r.Shuffle(len(b), func(i, j int) { slots[b[i]], slots[b[j]] = slots[b[j]], slots[b[i]] })
		}
		agrees := total(c.agree, slots) / c.size
		if agrees > 1-1e-9 {
			same++
			continue
		}
		typical = append(typical, (estimate-total(c.sums, slots)/c.size)/(1-agrees))
	}
	return stats.Invert(estimate, len(slots), typical, same)
}

// error returns the standard error of the estimate, for values with an independent variance in
// each column plus one that a unit's columns share.
func (c *contrast) error(each, shared float64) float64 {
	v := 0.0
	for _, had := range c.had {
		squares, sum := 0.0, 0.0
		for _, h := range had {
			squares, sum = squares+h*h, sum+h
		}
		v += each*squares + shared*sum*sum
	}
	return math.Sqrt(v) / c.size
}
