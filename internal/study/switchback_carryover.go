package study

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// carryOver compares the effect in the first half of what counts of the windows with
// that in the second: what differs is still on its way when the burn-in ends.
type carryOver struct {
	variant, metric string
	stats.Interval  // of the difference, on the logarithm
}

func (c carryOver) text() string {
	return fmt.Sprintf("the effect of %s is still moving after the burn-in: it differs by %s between the halves of the windows; make burn_in longer", c.variant, show.Percent(stats.Percent(c.Estimate)))
}

// carryOvers of the primary metric, for each treatment.
func switchbackCarryOvers(trials []Trial, s Spec) (out []carryOver) {
	metric := s.Primary().Metric
	for _, v := range s.Variants {
		if v.Name == s.Control {
			continue
		}
		var d []float64
		for block, early := range halves(trials, v.Name, metric, 0) {
			if late, ok := halves(trials, v.Name, metric, 1)[block]; ok {
				d = append(d, late-early)
			}
		}
		slices.Sort(d) // a map has no order, and sums have
		if len(d) >= stats.LeastPairs {
			out = append(out, carryOver{v.Name, metric, stats.OneSample(d, 0.99).Interval})
		}
	}
	return out
}

// halves are the effects of a variant's valid pairs, on the logarithm, in one half of
// what counts of their windows, by block.
func halves(trials []Trial, variant, metric string, half int) map[int]float64 {
	sums := map[int]map[bool]float64{}
	for _, t := range trials {
		w := windowOf(t)
		if w == nil || w.Ramp || w.Of != variant || !t.Valid {
			continue
		}
		if v, ok := w.part(metric, half); ok {
			if sums[t.Block] == nil {
				sums[t.Block] = map[bool]float64{}
			}
			sums[t.Block][t.Variant == variant] = v
		}
	}
	out := map[int]float64{}
	for block, both := range sums {
		treated, a := both[true]
		control, b := both[false]
		if a && b {
			out[block] = treated - control
		}
	}
	return out
}

// part is the mean logarithm of the series' values in one half of what counts.
func (w *Window) part(metric string, half int) (float64, bool) {
	if len(w.At) == 0 {
		return 0, false
	}
	end := w.At[len(w.At)-1]
	middle := (w.BurnIn + end) / 2
	sum, n := 0.0, 0.0
	for i, v := range w.Series[metric] {
		if i >= len(w.At) || v == nil || *v <= 0 || w.At[i] < w.BurnIn || (w.At[i] >= middle) != (half == 1) {
			continue
		}
		sum, n = sum+math.Log(*v), n+1
	}
	return sum / n, n > 0
}
