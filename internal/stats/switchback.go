package stats

import "math"

// LeastPairs is the fewest pairs whose randomisation test can reject at 5 %:
// 2/2⁶ = 0.031, 2/2⁵ = 0.063.
const LeastPairs = 6

// What a Comparison's Method says of a live host's: the test, with the scale behind it, or
// that nothing was tested.
const (
	RandomisationTest = "randomisation test over the orders of pairs"
	GuardrailEnded    = "a guardrail ended the study"
)

// CompareSwitchback compares the windows of one machine that switches between
// control and variants, pair by pair in an order drawn by chance. The
// randomisation test over those orders decides, its inversion is the interval.
// Values are one a pair and arm, NaN where a window is invalid. P-values are
// corrected over the variants by Holm.
func CompareSwitchback(controls, variants []Arm, opt Options) []Comparison {
	return compareAll(variants, opt, func(i int, opt Options) Comparison { return compareSwitchback(controls[i], variants[i], opt) })
}

func compareSwitchback(control, variant Arm, opt Options) Comparison {
	a, b, missing := completePairs(control.Values, variant.Values)
	c := newComparison(control, variant, Switchback, a, b)
	if missing > 0 {
		c.warn(MissingBlocks, "look at why those windows are invalid; resume the study to repeat them",
			"%d of %d pairs lack a valid window of %s or %s", missing, missing+len(a), control.Name, variant.Name)
	}
	x, y, scale := onScale(&c, a, b, opt)
	c.Scale = scale
	d := subtract(y, x)
	level := 1 - opt.Alpha
	t := Randomise(d, opt.Draws, opt.Seed)
	c.random, c.rounding = &t, 1.96*roundingOf(a, b, scale, opt.Bucket)
	c.Effect = OneSample(d, level) // its standard error plans; it does not decide
	_, variance := meanVariance(d)
	c.SD = math.Sqrt(variance)
	c.testAt(level)
	c.Method = RandomisationTest + ", on " + scale.plural()
	c.Difference = OneSample(subtract(b, a), level)
	c.finish(a, b, opt)
	if n := len(a); n >= 2 && !opt.NoPlan {
		c.detectable(MinimumDetectableEffect(c.SD, n, opt.Alpha, opt.Power))
	}
	c.warnPairs(d, opt)
	return c
}

// testAt makes the comparison's effect, interval and p those of its deciding
// test at a level.
func (c *Comparison) testAt(level float64) {
	if c.random == nil {
		c.Effect = newTest(c.Effect.Estimate, c.Effect.SE, c.Effect.DF, level)
		return
	}
	c.Effect.Interval = c.random.Interval(level)
	c.Effect.Low, c.Effect.High = c.Effect.Low-c.rounding, c.Effect.High+c.rounding
	c.Effect.P = 1
	if math.Abs(c.Effect.Estimate) >= c.rounding {
		c.Effect.P = max(c.random.P(-c.rounding), c.random.P(c.rounding))
	}
}

func (c *Comparison) warnPairs(d []float64, opt Options) {
	if c.N < LeastPairs {
		c.warn(TooFew, "run at least 6 pairs", "%d pairs cannot decide: their smallest p is %.3g", c.N, c.random.Least())
		return
	}
	if c.SD == 0 {
		c.warn(NoVariation, "check that the metric is measured anew in every window and not rounded", "all %d effects of pairs are equal", c.N)
	}
	if o := FindOutliers(d); len(o) > 0 {
		c.warn(Outliers, "look at these windows; they are kept", "far from the rest: %s", numbers("pair", o))
	}
	c.warnPower(opt, func() string { return "run " + blocksText(c, opt) + " pairs" })
}
