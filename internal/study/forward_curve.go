package study

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"linerate/internal/list"
	"linerate/internal/stats"
)

// curves returns all of a study's curves, from its valid trials.
func curves(s Spec, trials []Trial) []Curve {
	var out []Curve
	for _, w := range s.Sweep {
		for _, p := range s.Parts {
			if m, ok := curveMetric(p); ok && p.At == nil {
				out = append(out, overVariants(s, w, p, m, trials)...)
			}
		}
		out = append(out, overParts(s, w, trials)...)
	}
	return out
}

// curveMetric returns the metric that a part's curves show.
func curveMetric(p Part) (Metric, bool) {
	if !offersFrames(p) {
		return Metric{}, false
	}
	return Timeline(p)
}

// overVariants returns the curves whose points are variants.
func overVariants(s Spec, w Sweep, p Part, m Metric, trials []Trial) []Curve {
	var out []Curve
	for _, v := range s.Variants {
		if _, in := v.At[w.Parameter]; !in || v.Curve == "" || slices.ContainsFunc(out, func(c Curve) bool { return c.Name == v.Curve }) {
			continue
		}
		c := Curve{Parameter: w.Parameter, Label: w.Title(), Metric: m.Name, Part: p.Name, Name: v.Curve}
		own := 0
		for _, u := range s.Variants {
			if _, in := u.At[w.Parameter]; !in || u.Curve != v.Curve && u.Curve != "" {
				continue
			}
			if spot, ok := spotOf(trials, p.Name, u.Name, m, u.At[w.Parameter], u.Name); ok {
				beside(s, &spot, trials, p, m)
				c.Points = append(c.Points, spot)
				if u.Curve == v.Curve {
					own++
				}
			}
		}
		sortPoints(&c)
		if own == 0 {
			continue // only points that other curves share
		}
		if w.Fit == FitLinear {
			fitLine(&c, func(spot Spot) map[int]float64 { return byBlock(trials, p.Name, spot.Name, m.Name) })
		}
		out = append(out, c)
	}
	return out
}

// overParts returns the curves whose points are parts, one curve for each variant.
func overParts(s Spec, w Sweep, trials []Trial) []Curve {
	parts, byLoad := partsOf(s, w)
	if len(parts) == 0 {
		return nil
	}
	m, ok := curveMetric(parts[0])
	if !ok {
		return nil
	}
	if byLoad {
		trials = atOwnLoads(&s, parts, trials)
	}
	var out []Curve
	for _, v := range s.Variants {
		c := Curve{Parameter: w.Parameter, Label: w.Title(), Metric: m.Name, Name: v.Name, Offered: byLoad}
		for _, p := range parts {
			if spot, ok := spotOf(trials, p.Name, v.Name, m, p.At[w.Parameter], p.Name); ok {
				c.Points = append(c.Points, spot)
			}
		}
		if byLoad {
			offered(&c, trials, v.Name)
		}
		sortPoints(&c)
		if len(c.Points) == 0 {
			continue
		}
		if byLoad {
			knee(&c)
		} else if w.Fit == FitLinear {
			fitLine(&c, func(spot Spot) map[int]float64 { return byBlock(trials, spot.Name, v.Name, m.Name) })
		}
		out = append(out, c)
	}
	return out
}

// partsOf returns the parts along a sweep. If the offered load is swept, the
// last point is the part that offers the maximum.
func partsOf(s Spec, w Sweep) (parts []Part, byLoad bool) {
	for _, p := range s.Parts {
		if _, in := p.At[w.Parameter]; in {
			parts = append(parts, p)
			byLoad = byLoad || p.Rate != parts[0].Rate
		}
	}
	for _, p := range s.Parts {
		if byLoad && measuresCapacity(p) {
			parts = append(parts, p)
		}
	}
	return parts, byLoad
}

func sortPoints(c *Curve) {
	list.Sort(c.Points, func(a, b Spot) int { return cmp.Compare(a.X, b.X) })
}

// byBlock returns an arm's valid values of a metric by block.
func byBlock(trials []Trial, part, arm, metric string) map[int]float64 {
	out := map[int]float64{}
	for _, t := range trials {
		if v, ok := t.Metrics[metric]; ok && t.Valid && t.Part == part && t.Variant == arm {
			out[t.Block] = v
		}
	}
	return out
}

// sortedValues returns the values in the order of their blocks.
func sortedValues(by map[int]float64) []float64 {
	return list.Map(slices.Sorted(maps.Keys(by)), func(block int) float64 { return by[block] })
}

// spotOf returns the mean of an arm in a part; ok is false if it has no valid trial.
func spotOf(trials []Trial, part, arm string, m Metric, x float64, name string) (Spot, bool) {
	values := sortedValues(byBlock(trials, part, arm, m.Name))
	if len(values) == 0 {
		return Spot{}, false
	}
	t := stats.OneSample(values, 0.95)
	return Spot{X: x, Name: name, Value: t.Estimate, Low: stats.Num(t.Low), High: stats.Num(t.High), N: len(values)}, true
}

// beside replaces a variant's interval by that of its difference from the control in
// the same blocks, which cancels the machine's drift.
func beside(s Spec, spot *Spot, trials []Trial, p Part, m Metric) {
	control := byBlock(trials, p.Name, s.Control, m.Name)
	apart := map[int]float64{}
	for b, v := range byBlock(trials, p.Name, spot.Name, m.Name) {
		if c, ok := control[b]; ok {
			apart[b] = v - c
		}
	}
	if len(apart) < 2 {
		return
	}
	t := stats.OneSample(sortedValues(apart), 0.95)
	half := (t.High - t.Low) / 2
	spot.Low, spot.High = stats.Num(spot.Value-half), stats.Num(spot.Value+half)
}

// offered moves points to the load that was actually offered.
func offered(c *Curve, trials []Trial, arm string) {
	for i := range c.Points {
		p := &c.Points[i]
		if load := sortedValues(byBlock(trials, p.Name, arm, OfferedRate)); len(load) > 0 {
			p.X = stats.Mean(load)
		}
		if loss := sortedValues(byBlock(trials, p.Name, arm, LossRatio)); len(loss) > 0 {
			p.Loss = stats.Num(stats.Mean(loss))
		}
	}
}

// knee finds where loss begins and how much is forwarded beyond.
func knee(c *Curve) {
	k := Knee{}
	carried := true
	for _, p := range c.Points {
		loss, known := p.Loss.Get()
		if carried = carried && known && loss <= KneeLoss; carried {
			k.Load = p.X
		}
		k.Best = max(k.Best, p.Value)
	}
	last := c.Points[len(c.Points)-1]
	if k.Best <= 0 || carried || len(c.Points) < 3 {
		return // never overloaded
	}
	k.Beyond, k.Most = last.Value/k.Best, last.X/k.Best
	c.Knee = &k
}

// leastOnLine is the least number of points for fitting a line.
const leastOnLine = 3

// fitLine fits a line with a step to the means, and to each block for the intervals.
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
		return // relative deviations from zero are undefined
	}
	f := lineWithStep(x, y)
	for i := range x {
		if at := f.At(x[i]); at > 0 {
			f.Off = max(f.Off, 100*math.Abs(y[i]/at-1))
		}
	}
	var each, any []float64
	for _, b := range slices.Sorted(maps.Keys(by[0])) { // a fixed order of summation gives reproducible sums
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

// lineWithStep fits a line through all points. If the first point is at zero and enough others
// exist, it fits the line through those and computes the step from the first.
func lineWithStep(x, y []float64) (f PerOne) {
	if x[0] != 0 || len(x) <= leastOnLine {
		f.Base, f.Each = relativeLine(x, y)
		return f
	}
	begins, each := relativeLine(x[1:], y[1:])
	return PerOne{Base: y[0], Each: each, Any: stats.Num(begins - y[0])}
}
