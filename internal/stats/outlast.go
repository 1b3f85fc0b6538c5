package stats

import (
	"fmt"
	"math"
)

// OverBothArms is the Method of a comparison whose effect shows late.
const OverBothArms = "regression on the arms of the window and of the one before, over redrawn orders of pairs"

// Outlasts reports whether effects outlast their windows.
func (l Late) Outlasts() bool { return l.P <= 0.05 } // false of NaN

// beyondDoubt is the p of no late effect from which on the effect of both windows is told. To tell it
// whenever the test notices something would choose the estimate by the data that make it:
// one study of twenty without late effects would be judged by what looks late in it, and false
// positives were 7 %, coverage 92 % (Freeman, Statist. Med. 8, 1989, of cross-over trials).
const beyondDoubt = 0.005

// Outlast judges a comparison of several by what its windows show of late effects. Where the window
// before still acts, pairs compare two mixtures: no verdict comes of them. Beyond doubt, the
// effect is that on a window and on the next together. Where that is not all of it, or shows nothing, the windows are too short.
// What the effect of both contradicts is no verdict either.
func (c *Comparison) Outlast(l Late, of int, opt Options) {
	opt = opt.filled()
	if c.Late = l; math.IsNaN(l.P) || c.Verdict == Invalid {
		return
	}
	running := math.IsNaN(c.P) // valid at any time, which the effect of both is not
	if running || l.P > beyondDoubt {
		if c.Short = l.Outlasts() || c.contradicts(l, opt); c.Short {
			c.Verdict, c.Unselected = Inconclusive, math.NaN()
			c.Effect.Low, c.Effect.High = math.NaN(), math.NaN() // of a mixture
			c.inPercent()
		}
		return
	}
	level := min(1-c.Effect.Level, opt.Alpha/float64(max(1, of)))
	c.Method, c.Unselected = OverBothArms, math.NaN()
	c.Detectable, c.DetectablePercent = math.NaN(), math.NaN()
	c.Effect = Test{Interval: l.Interval(1 - level), SE: math.NaN(), DF: math.NaN(), T: math.NaN(), P: l.PTotal(0)}
	c.P, c.PHolm, c.PEquivalentHolm = c.Effect.P, min(1, c.Effect.P*float64(of)), math.NaN()
	c.inPercent()
	equivalent := math.NaN()
	if low, high := c.margins(opt); high > low && c.Effect.Known() && c.Effect.Within(low, high) {
		equivalent = 0
	}
	c.Verdict = Judge(c.Effect.Estimate, c.P, equivalent, level, opt.Better)
	if l.Again <= opt.Alpha {
		c.Verdict = Inconclusive
	}
	c.Short = c.Verdict == Inconclusive
	c.warn(LateEffect, "make the windows longer", "part of the effect shows a window late (p = %s)", fmt.Sprintf("%.2g", l.P))
}

// contradicts reports that the effect on both windows is none of the verdict's: of the other direction or, of
// an equivalence, shown and beyond the margin.
func (c *Comparison) contradicts(l Late, opt Options) bool {
	low, high := c.margins(opt)
	switch {
	case c.Verdict.Differs():
		return c.Effect.Estimate*l.Total < 0
	case c.Verdict == Equivalent:
		return (l.Total < low || l.Total > high) && l.PTotal(0) <= opt.Alpha
	}
	return false
}
