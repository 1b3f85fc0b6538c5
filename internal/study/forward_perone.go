package study

import (
	"maps"
	"math"
	"slices"

	"linerate/internal/stats"
)

// leastOnLine is how many points a line is fitted to at least.
const leastOnLine = 3

// fitLine fits the law to the means, and to each block for the intervals.
func fitLine(c *Curve, blocks func(Spot) map[int]float64) {
	if len(c.Points) < leastOnLine {
		return
	}
	x, y := make([]float64, len(c.Points)), make([]float64, len(c.Points))
	by := make([]map[int]float64, len(c.Points))
	for i, p := range c.Points {
		x[i], y[i], by[i] = p.X, p.Value, blocks(p)
	}
	if slices.Min(y) <= 0 {
		return // distances are relative: there are none to nothing
	}
	f := lineWithStep(x, y)
	for i := range x {
		if at := f.At(x[i]); at > 0 {
			f.Off = max(f.Off, 100*math.Abs(y[i]/at-1))
		}
	}
	var each, any []float64
	for _, b := range slices.Sorted(maps.Keys(by[0])) { // sums in one order are the same to the last digit
		own := make([]float64, len(x))
		whole := true
		for i := range x {
			v, ok := by[i][b]
			own[i], whole = v, whole && ok
		}
		if whole {
			one := lineWithStep(x, own)
			each, any = append(each, one.Each), append(any, one.Any.Float())
		}
	}
	f.Low, f.High = around(f.Each, each)
	if step, known := f.Any.Get(); known {
		f.AnyLow, f.AnyHigh = around(step, any)
	}
	c.Fit = &f
}

// around is the 95 % interval of values that were found block by block; unknown
// where it does not hold what was found in the means, which are of other blocks.
func around(mean float64, values []float64) (low, high stats.Number) {
	t := stats.OneSample(values, 0.95)
	if t.Low > mean || t.High < mean {
		return stats.Number{}, stats.Number{}
	}
	return stats.Num(t.Low), stats.Num(t.High)
}

// lineWithStep is the line through all points, or, where the first is of none
// and enough others are there, the line through these and its step from that.
func lineWithStep(x, y []float64) (f PerOne) {
	if x[0] != 0 || len(x) <= leastOnLine {
		f.Base, f.Each = relativeLine(x, y)
		return f
	}
	begins, each := relativeLine(x[1:], y[1:])
	return PerOne{Base: y[0], Each: each, Any: stats.Num(begins - y[0])}
}

// relativeLine is the line through (x, y) with the least squares of relative
// distances: points of hundreds of nanoseconds count as much as such of tens of
// thousands.
func relativeLine(x, y []float64) (base, each float64) {
	var w, wx, wy, wxx, wxy float64
	for i := range x {
		k := 1 / (y[i] * y[i])
		w, wx, wy, wxx, wxy = w+k, wx+k*x[i], wy+k*y[i], wxx+k*x[i]*x[i], wxy+k*x[i]*y[i]
	}
	d := w*wxx - wx*wx
	if d == 0 {
		return wy / w, 0
	}
	each = (w*wxy - wx*wy) / d
	return (wy - each*wx) / w, each
}
