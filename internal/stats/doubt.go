package stats

import "math"

// muchWider is how many times the effect half an A/A interval must be to take a verdict back: of arms
// that scatter alike both intervals are about as wide, and an effect just found is hardly larger.
const muchWider = 1.25

// Doubt takes back a verdict that the study's A/A arm does not support. Where the control differs
// from itself, that is one on an effect up to the largest that the A/A interval allows; where half the
// A/A interval is a quarter wider than the effect (or the margin of an equivalence), one on such an effect. The
// A/A arm of fewer blocks is taken as if it had as many.
func (c *Comparison) Doubt(aa Comparison, opt Options) {
	effect := math.Abs(c.Effect.Estimate)
	switch low, high := c.margins(opt.filled()); {
	case c.Verdict == Equivalent:
		effect = max(-low, high)
	case !c.Verdict.Differs():
		return
	}
	if !aa.Effect.Known() || aa.Scale != c.Scale || aa.N < leastBlocks {
		return
	}
	half := aa.Effect.Half() * math.Sqrt(float64(aa.N)/float64(max(aa.N, c.N)))
	why := ""
	switch {
	case !aa.Effect.Contains(0) && effect <= max(math.Abs(aa.Effect.Low), math.Abs(aa.Effect.High)):
		why = "the control differs from itself by as much"
	case muchWider*effect <= half:
		why = "the interval of the control against itself is as wide"
	default:
		return
	}
	c.warn(AADoubt, "measure again on a quieter machine, or for longer", "%s is not shown to be %s: %s", c.Variant, c.Verdict, why)
	c.Verdict, c.Unselected = Inconclusive, math.NaN()
}
