package stats

import (
	"math"

	"linerate/internal/list"
	"linerate/internal/show"
)

// CompareSamples compares independent samples with the first: Welch's t test on the
// logarithms decides (on the values themselves if one has no logarithm). For trials
// that were interleaved in blocks use CompareBlocks, which is more powerful.
func CompareSamples(control Arm, variants []Arm, opt Options) []Comparison {
	return compareAll(len(variants), opt, func(i int, opt Options) Comparison { return compareSamples(control, variants[i], opt) })
}

func compareSamples(control, variant Arm, opt Options) Comparison {
	a, b := list.Filter(control.Values, isNumber), list.Filter(variant.Values, isNumber)
	c := newComparison(control, variant, Independent, a, b)
	x, y, scale := onScale(&c, a, b, opt)
	c.Scale = scale
	level := 1 - opt.Alpha
	c.Method = "Welch's t on the values"
	if scale == LogRatio {
		c.Method = "Welch's t on the logarithms"
	}
	c.Effect = Welch(x, y, level)
	c.Difference = Welch(a, b, level)
	c.SD = pooledSD(x, y)
	c.finish(a, b, opt)
	if c.N >= 2 {
		// Uses the degrees of freedom and standard error of the test itself.
		c.detectable(DetectableEffect(c.Effect.DF, opt.Alpha, opt.Power) * c.Effect.SE)
	}
	warnSamples(&c, x, y, opt)
	return c
}

// spread returns the common standard deviation of two samples of equal size:
// the root of their mean variance.
func spread(x, y []float64) float64 {
	_, vx := MeanVariance(x)
	_, vy := MeanVariance(y)
	return math.Sqrt((vx + vy) / 2)
}

func pooledSD(x, y []float64) float64 {
	_, vx := MeanVariance(x)
	_, vy := MeanVariance(y)
	nx, ny := float64(len(x)-1), float64(len(y)-1)
	return math.Sqrt((nx*vx + ny*vy) / (nx + ny))
}

// warnSamples warns about what limits a comparison of independent samples.
func warnSamples(c *Comparison, x, y []float64, opt Options) {
	if c.N < 2 {
		c.warn(TooFew, "give at least 5 values a side", "a sample of %s gives no interval", show.Plural(c.N, "value"))
		return
	}
	_, vx := MeanVariance(x)
	_, vy := MeanVariance(y)
	if vx == 0 || vy == 0 {
		c.warn(NoVariation, "check that the values are measured again each time and not rounded", "a sample does not vary")
	}
	if r := math.Sqrt(max(vx, vy) / min(vx, vy)); r > 3 && !math.IsInf(r, 0) {
		c.warn(UnequalSpread, "trust Welch's interval rather than ministat's pooled one",
			"one sample scatters %.1f times as much as the other", r)
	}
	for _, s := range []struct {
		name string
		x    []float64
	}{{c.Control, x}, {c.Variant, y}} {
		if o := FindOutliers(s.x); len(o) > 0 {
			c.warn(Outliers, "look at how they came about; they are kept", "%s: far from the rest: %s", s.name, numbers("value", o))
		}
		warnSeries(c, s.name, s.x)
	}
	c.warnPower(opt, func() string {
		enough := "more often"
		if c.Scale == LogRatio {
			enough = aboutHowMany(SamplesFor(spread(x, y), math.Log1p(opt.MarginPercent/100), opt.Alpha, opt.Power, planLimit)) + " values a side"
		}
		return "measure " + enough + ", in alternation"
	})
}
