package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"linerate/internal/stats"
)

// nightly checks what is said of series of nights: false alarms in 1,000 nights without a step, and
// the median of nights until a step of two standard deviations is seen.
func nightly(reps int, seed uint64) (out []Check) {
	for _, rho := range []float64{0, 0.3, 0.6, 0.9} {
		for _, heavy := range []bool{false, true} {
			r := rand.New(rand.NewPCG(seed, uint64(10*rho)))
			series, what := max(10, reps/200), fmt.Sprintf("autocorrelation %.1f", rho)
			if heavy {
				what += ", heavy tails"
			}
			wrong, delays := 0, []float64(nil)
			for range series {
				wrong += len(stats.Watch(nights(r, 1000, rho, heavy)).Steps)
				delays = append(delays, delay(r, rho, heavy))
			}
			each, slack := float64(wrong)/float64(series), 2/math.Sqrt(float64(series))
			out = append(out, Check{"false alarms in 1,000 nights, " + what, 1000, each, 0, 1, each <= 1+slack},
				Check{"nights until a step of two standard deviations is seen, median, " + what, 300, stats.Median(delays), 0, math.MaxInt32, true})
		}
	}
	return out
}

// delay returns the nights from a step after 120 nights until it is seen, at most 180.
func delay(r *rand.Rand, rho float64, heavy bool) float64 {
	const before, after = 120, 180
	y := nights(r, before+after, rho, heavy)
	for i := range after {
		y[before+i] += 2
	}
	for _, s := range stats.Watch(y).Steps {
		if s.Seen >= before {
			return float64(s.Seen - before + 1)
		}
	}
	return after
}

// nights returns a series of unit variance; heavy tails are those of Student's t with three degrees of freedom.
func nights(r *rand.Rand, n int, rho float64, heavy bool) []float64 {
	const settle = 50
	y, level := make([]float64, n), 0.0
	for i := range settle + n {
		z := r.NormFloat64()
		if heavy {
			z = studentT3(r) / math.Sqrt(3)
		}
		if level = rho*level + math.Sqrt(1-rho*rho)*z; i >= settle {
			y[i-settle] = level
		}
	}
	return y
}
