package stats

import (
	"math"
	"slices"
)

// radixFrom is the sample size from which sorting by digits beats comparing.
const radixFrom = 1024

// SortFloats sorts x, NaNs first. Large samples are sorted by the digits of
// their bits, least significant first (Knuth, The Art of Computer Programming
// 3, §5.2.5), in time that grows with the number of values alone.
func SortFloats(x []float64) {
	if len(x) < radixFrom || slices.ContainsFunc(x, math.IsNaN) {
		slices.Sort(x)
		return
	}
	const bits = 11
	var counts [(64 + bits - 1) / bits][1 << bits]int32
	from, to := make([]uint64, len(x)), make([]uint64, len(x))
	for i, v := range x {
		k := sortKey(v)
		from[i] = k
		for d := range counts {
			counts[d][k>>(bits*d)&(1<<bits-1)]++
		}
	}
	for d := range counts {
		c := &counts[d]
		shift := bits * d
		if int(c[from[0]>>shift&(1<<bits-1)]) == len(x) {
			continue // all have this digit in common
		}
		at := int32(0)
		for i, n := range c {
			c[i], at = at, at+n
		}
		for _, k := range from {
			digit := k >> shift & (1<<bits - 1)
			to[c[digit]] = k
			c[digit]++
		}
		from, to = to, from
	}
	for i, k := range from {
		x[i] = sortValue(k)
	}
}

const signBit = 1 << 63

// sortKey maps floats to integers of the same order, −0 before +0; sortValue
// is its inverse.
func sortKey(v float64) uint64 {
	b := math.Float64bits(v)
	if b&signBit != 0 {
		return ^b
	}
	return b | signBit
}

func sortValue(k uint64) float64 {
	if k&signBit != 0 {
		return math.Float64frombits(k &^ signBit)
	}
	return math.Float64frombits(^k)
}

// ascending is a sorted copy of x.
func ascending(x []float64) []float64 {
	s := slices.Clone(x)
	SortFloats(s)
	return s
}
