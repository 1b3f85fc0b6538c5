package stats

import (
	"fmt"
	"math"
)

// OverBothArms is the Method of a comparison whose effect appears late.
const OverBothArms = "regression on the arms of the window and of the one before, over redrawn orders of pairs"

// Outlasts reports whether effects outlast their windows.
func (l Late) Outlasts() bool { return l.P <= 0.05 } // false for NaN

// beyondDoubt is the p of no late effect below which the effect on both windows is reported.
// Reporting it whenever the test is significant would choose the estimate by the same data: one
// study in twenty without late effects would be judged by what looks late in it, with 7 % false
// positives and 92 % coverage (Freeman, Statist. Med. 8, 1989, on cross-over trials).
const beyondDoubt = 0.005

// smallPart is the share of the direct effect, or of the margin, below which a late effect changes nothing.
const smallPart = 0.1

// large reports whether the effect at a lag is such a part.
func (l Late) large(lag int, margin float64) bool {
	return math.Abs(l.lags[lag]) > smallPart*max(math.Abs(l.lags[0]), margin)
}

// Outlast judges a comparison, one of several, by the late effects of its windows. If the previous
// window still acts noticeably, pairs compare two mixtures. Then the verdict stands only if the sum
// of the effects on a window and on the next has the same verdict, and the interval covers both;
// beyond doubt, only that sum is reported. If the sum does not include everything, or shows
// nothing, the windows are too short. A verdict that the sum contradicts is withdrawn.
func (c *Comparison) Outlast(l Late, of int, opt Options) {
	opt = opt.filled()
	if c.Late = l; math.IsNaN(l.P) || c.Verdict == Invalid {
		return
	}
	_, margin := c.margins(opt)
	level := min(1-c.Effect.Level, opt.Alpha/float64(max(1, of)))
	running := math.IsNaN(c.P) // valid at any time, which the sum is not
	switch matters := l.Outlasts() && (l.large(1, margin) || l.large(2, margin)); {
	case running || !matters && l.Bursts == 0:
		if c.Short = matters || c.contradicts(l, opt); c.Short {
			c.Effect.Low, c.Effect.High = math.NaN(), math.NaN() // the interval of a mixture
			c.void()
		}
	case l.Bursts > 0:
		c.withoutBursts(l, level, of, opt)
	case l.P > beyondDoubt:
		c.hold(l, level, opt)
	default:
		c.overBoth(l, level, of, opt)
		c.Short = c.Verdict == Inconclusive
		c.warn(LateEffect, "make the windows longer", "part of the effect shows a window late (p = %s)", fmt.Sprintf("%.2g", l.P))
	}
	if l.Again <= opt.Alpha && l.large(2, margin) {
		c.void()
		c.Short = true
	}
}

func (c *Comparison) void() {
	c.Verdict, c.Unselected = Inconclusive, math.NaN()
	c.inPercent()
}

// hold extends the interval to cover that of both windows, and keeps the verdict if both agree.
func (c *Comparison) hold(l Late, level float64, opt Options) {
	both := Test{Interval: l.Interval(1 - level), P: l.PTotal(0)}
	c.Effect.Low, c.Effect.High = min(c.Effect.Low, both.Low), max(c.Effect.High, both.High) // NaN if any is NaN
	c.means = nil
	c.inPercent()
	if c.Short = c.verdictOf(both, level, opt) != c.Verdict || c.Verdict == Inconclusive; c.Short {
		c.void()
	}
}

// overBoth reports the effect on both windows.
func (c *Comparison) overBoth(l Late, level float64, of int, opt Options) {
	c.Method, c.Unselected, c.means = OverBothArms, math.NaN(), nil
	c.Detectable, c.DetectablePercent = math.NaN(), math.NaN()
	c.Effect = Test{Interval: l.Interval(1 - level), SE: math.NaN(), DF: math.NaN(), T: math.NaN(), P: l.PTotal(0)}
	c.P, c.PHolm, c.PEquivalentHolm = c.Effect.P, min(1, c.Effect.P*float64(of)), math.NaN()
	c.inPercent()
	c.Verdict = c.verdictOf(c.Effect, level, opt)
}

// withoutBursts reports the effect on both windows that bursts leave in sight, since bursts hide late
// effects. Where all windows differ but the others show nothing, the effect is on the bursts, and the
// verdict on all windows stands; the two tests share the level. Where they have other verdicts, the
// interval covers both, and there is no verdict.
func (c *Comparison) withoutBursts(l Late, level float64, of int, opt Options) {
	all := *c
	level /= 2
	c.overBoth(l, level, of, opt)
	if all.onBursts(l, level) {
		*c = all
		c.warn(Bursts, "watch a high percentile to see them alone", "%d windows have bursts, and the effect is on them", l.Bursts)
		return
	}
	c.warn(Bursts, "run more pairs, or watch a median", "%d windows have bursts; the effect is that on the others", l.Bursts)
	if c.Verdict != all.Verdict && (all.Verdict.Differs() || c.Verdict == Equivalent) {
		c.Effect.Low, c.Effect.High = min(c.Effect.Low, all.Effect.Low), max(c.Effect.High, all.Effect.High)
		c.void()
	}
	c.Short = c.Verdict == Inconclusive && l.Outlasts()
}

// onBursts reports whether all windows differ at a level, and the windows without bursts do not
// differ, lean the same way and show no late effect.
func (c *Comparison) onBursts(l Late, level float64) bool {
	return c.Verdict.Differs() && c.P <= level && !l.Outlasts() && c.Effect.Estimate*l.Total > 0 && l.PTotal(0) > level
}

// verdictOf returns the verdict on an effect over both windows.
func (c *Comparison) verdictOf(t Test, level float64, opt Options) Verdict {
	equivalent := math.NaN()
	if low, high := c.margins(opt); high > low && t.Known() && t.Within(low, high) {
		equivalent = 0
	}
	return Judge(t.Estimate, t.P, equivalent, level, opt.Better)
}

// contradicts reports whether the effect on both windows contradicts the verdict: it has the other
// direction or, for an equivalence, is shown and beyond the margin.
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
