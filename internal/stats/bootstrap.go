package stats

import (
	"math"
	"math/rand/v2"
)

// BCa is the bias-corrected and accelerated bootstrap interval of a statistic
// of one sample (Efron, JASA 82, 1987; Efron & Tibshirani 1993, ch. 14), from
// draws resamples and a seed. It is second-order accurate, which with fewer
// than ten values is still not accurate: prefer a t interval there.
func BCa(x []float64, statistic func([]float64) float64, draws int, level float64, seed uint64) Interval {
	return BCaTwo(x, nil, func(a, _ []float64) float64 { return statistic(a) }, draws, level, seed)
}

// BCaTwo is BCa for a statistic of two independent samples, such as a ratio
// of medians. Both are resampled; the acceleration comes from leaving out each
// value of both in turn. statistic must not keep or change its arguments.
func BCaTwo(a, b []float64, statistic func(a, b []float64) float64, draws int, level float64, seed uint64) Interval {
	estimate := statistic(a, b)
	if len(a) < 2 || len(b) == 1 || draws < 2 || math.IsNaN(estimate) {
		return noInterval(estimate, level)
	}
	r := rand.New(rand.NewPCG(seed, 0xbca))
	boot := make([]float64, draws)
	ra, rb := make([]float64, len(a)), make([]float64, len(b))
	below := 0.0
	for i := range boot {
		resample(ra, a, r)
		resample(rb, b, r)
		boot[i] = statistic(ra, rb)
		switch {
		case boot[i] < estimate:
			below++
		case boot[i] == estimate:
			below += 0.5
		}
	}
	SortFloats(boot)
	// A share of 0 or 1 has no quantile; half a draw stands in.
	share := min(1-0.5/float64(draws), max(0.5/float64(draws), below/float64(draws)))
	z0, accel := NormalQuantile(share), acceleration(a, b, statistic)
	at := func(p float64) float64 {
		z := z0 + NormalQuantile(p)
		return Quantile(boot, 1-normalUpper(z0+z/(1-accel*z)))
	}
	tail := (1 - level) / 2
	return Interval{Estimate: estimate, Low: at(tail), High: at(1 - tail), Level: level}
}

func resample(to, from []float64, r *rand.Rand) {
	for i := range to {
		to[i] = from[r.IntN(len(from))]
	}
}

// acceleration is a sixth of the skewness of the jackknife's influence values;
// each sample's are scaled by its size.
func acceleration(a, b []float64, statistic func(a, b []float64) float64) float64 {
	var cubes, squares float64
	for k, x := range [][]float64{a, b} {
		n := len(x)
		if n < 2 {
			continue
		}
		values := make([]float64, n)
		mean := 0.0
		rest := make([]float64, n-1)
		for i := range x {
			copy(rest, x[:i])
			copy(rest[i:], x[i+1:])
			if k == 0 {
				values[i] = statistic(rest, b)
			} else {
				values[i] = statistic(a, rest)
			}
			mean += values[i] / float64(n)
		}
		for _, v := range values {
			u := (mean - v) * float64(n-1) / float64(n)
			cubes += u * u * u
			squares += u * u
		}
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}
