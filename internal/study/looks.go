package study

import (
	"math"
	"slices"

	"linerate/internal/stats"
	"linerate/internal/yamlfile"
)

// level returns the significance level of the variants' verdicts.
func (l *Looks) level() float64 {
	if l.Alpha > 0 {
		return l.Alpha
	}
	return alpha
}

// maxLooks bounds a plan: more looks cost power and save no time.
const maxLooks = 12

// LooksUpTo plans looks for a study of at most n blocks: the first as soon as an
// interval can be computed, each further one after half as many blocks more.
func LooksUpTo(n int, precision float64) *Looks {
	l := &Looks{PrecisionPercent: precision}
	for at := 4; at < n && len(l.Blocks) < maxLooks-1; at = max(at+1, at*3/2) {
		l.Blocks = append(l.Blocks, at)
	}
	l.Blocks = append(l.Blocks, max(3, n))
	return l
}

// WithLooks returns the study with planned looks and at most n blocks of the
// primary metric's part.
func (s Spec) WithLooks(n int, precision float64) Spec {
	l := LooksUpTo(n, precision)
	s.Looks = l
	s.Parts = slices.Clone(s.Parts)
	for i, p := range s.Parts {
		if p.Name == s.Primary().Part {
			s.Parts[i].Blocks = l.Blocks[len(l.Blocks)-1]
		}
	}
	return s
}

func (s *Spec) checkLooks() *yamlfile.Problem {
	l := s.Looks
	if l == nil {
		return nil
	}
	if _, err := stats.NewSequential(l.Blocks, 0.05); err != nil {
		return yamlfile.Wrong("looks.blocks", "%v", err)
	}
	if !(l.PrecisionPercent >= 0 && l.PrecisionPercent < 100) {
		return yamlfile.Wrong("looks.precision_percent", "precision_percent: %g is not within 0 and 100", l.PrecisionPercent)
	}
	if !(l.Alpha >= 0 && l.Alpha < 1) {
		return yamlfile.Wrong("looks.alpha", "alpha: %g is not between 0 and 1", l.Alpha)
	}
	part, _ := s.Part(s.Primary().Part)
	if last := l.Blocks[len(l.Blocks)-1]; last > part.Blocks {
		return yamlfile.Wrong("looks.blocks", "a look after %d blocks is never reached: part %s has %d", last, part.Name, part.Blocks).Advise("give the part blocks: %d, or look earlier", last)
	}
	return nil
}

// looking is a study's plan of looks and its present look.
type looking struct {
	variants, aa stats.Sequential
	look         int // index of the last look passed, or 0
	arms         int
}

// looksAt returns the plan for a goal after n blocks, or nil if it has none.
func (s Spec) looksAt(g Goal, n, arms int) *looking {
	if s.Looks == nil || g.Part != s.Primary().Part {
		return nil
	}
	v, err := stats.NewSequential(s.Looks.Blocks, s.Looks.level()/float64(max(1, arms)))
	if err != nil {
		return nil // check refuses such a study
	}
	aa, _ := stats.NewSequential(s.Looks.Blocks, alpha)
	look, is := slices.BinarySearch(s.Looks.Blocks, n)
	if !is {
		look = max(0, look-1)
	}
	return &looking{variants: v, aa: aa, look: look, arms: arms}
}

const alpha = 0.05 // significance level of every study's verdicts

// settle adjusts comparisons to the look, with correction over the variants.
func (l *looking) settle(cs []stats.Comparison, opt stats.Options) {
	for i := range cs {
		cs[i], _ = l.variants.Settle(cs[i], l.look, opt)
		cs[i].PHolm = min(1, cs[i].P*float64(l.arms))
		cs[i].Method += ", at planned looks (O'Brien–Fleming spending), Bonferroni over variants"
	}
}

// atAnyTime adjusts comparisons of an unfinished study so that they hold if somebody stops it
// now: whoever stops at will errs in at most 5 % of studies, over all variants.
func atAnyTime(cs []stats.Comparison, opt stats.Options) {
	for i, c := range cs {
		few := c.Design == stats.Independent && slices.ContainsFunc(c.Warnings, func(w stats.Warning) bool { return w.Code == stats.TooFew })
		if c.N < 2 || few { // too few connections allow no conclusion at any time either
			continue
		}
		cs[i], _ = stats.AnyTime(c.N, alpha/float64(len(cs))).Settle(c, 0, opt)
		cs[i].Unselected = math.NaN()
		cs[i].P, cs[i].PHolm, cs[i].PEquivalentHolm = math.NaN(), math.NaN(), math.NaN()
		cs[i].Method += ", at any time (confidence sequence), Bonferroni over variants"
	}
}

// anyTime compares by the primary metric, valid if somebody stops the study now.
func (s Spec) anyTime(seed uint64, trials []Trial) []stats.Comparison {
	cs, opt := s.soFar(seed, trials)
	cs = cs[:len(cs)-1]
	atAnyTime(cs, opt)
	return cs
}

// settled reports whether the primary metric's part needs no more blocks after
// n complete ones.
func (s Spec) settled(seed uint64, n int, trials []Trial) bool {
	if s.Looks == nil || !slices.Contains(s.Looks.Blocks, n) {
		return false
	}
	cs := s.look(seed, n, trials)
	if s.Design == Switchback { // there are too few shams to decide the A/A comparison when a treatment's is decided
		cs = cs[:len(cs)-1]
	}
	return !slices.ContainsFunc(cs, func(c stats.Comparison) bool { return !s.Looks.enough(c) })
}

// look compares every variant with the control by the primary metric after n
// complete blocks; the last comparison is of the control with itself.
func (s Spec) look(seed uint64, n int, trials []Trial) []stats.Comparison {
	cs, opt := s.soFar(seed, trials)
	last, g := len(cs)-1, s.Primary()
	plan := s.looksAt(g, n, last)
	plan.settle(cs[:last], opt)
	s.outlast(cs[:last], g, seed, trials, opt)
	for i, c := range cs[:last] { // an equivalence that will be withdrawn does not count as decided
		if c.Verdict == stats.Equivalent && s.doubt(g.Part, g.Metric, trials, c.Control, c.Variant) != "" {
			cs[i].Verdict = stats.Inconclusive
		}
	}
	cs[last], _ = plan.aa.Settle(cs[last], plan.look, opt)
	for i := range cs[:last] {
		cs[i].Doubt(cs[last], opt)
	}
	return cs
}

// enough reports whether a comparison is decided, or precise enough.
func (l *Looks) enough(c stats.Comparison) bool {
	if c.Verdict.Differs() || c.Verdict == stats.Equivalent {
		return true
	}
	half := halfWidth(c)
	return l.PrecisionPercent > 0 && !math.IsNaN(half) && half <= l.PrecisionPercent
}

// halfWidth returns half the width of an interval, in percent, or in points for shares.
func halfWidth(c stats.Comparison) float64 {
	_, low, high := c.Result().Size()
	return (high.Float() - low.Float()) / 2
}

// Interim returns the present precision of the primary metric: half the width of
// the A/A arm's interval, and of the widest interval of a variant, in percent, or
// in percentage points for shares. These are the intervals that the study would
// report if it ended here: at a look if looks are planned, else at any time.
func (s Spec) Interim(seed uint64, trials []Trial) (aa, widest stats.Number) {
	var cs []stats.Comparison
	if s.Looks == nil {
		var opt stats.Options
		cs, opt = s.soFar(seed, trials)
		atAnyTime(cs[:len(cs)-1], opt)
		atAnyTime(cs[len(cs)-1:], opt)
	} else {
		part := s.Primary().Part
		cs = s.look(seed, len(begun(s, blocksOf(s, seed, part), part, trials)), trials)
	}
	most := math.Inf(-1)
	for _, c := range cs[:len(cs)-1] {
		most = max(most, halfWidth(c)) // NaN if any is
	}
	return stats.Num(halfWidth(cs[len(cs)-1])), stats.Num(most)
}

// NoVerdicts reduces the results of an unfinished study to the effects by the primary metric,
// with intervals that hold whenever somebody stops it, and withdraws the verdicts: stopping
// at the first pleasing one would inflate false positives.
func (r *Results) NoVerdicts(s Spec) {
	cs := s.anyTime(r.Seed, r.Trials)
	r.Verdicts = slices.DeleteFunc(r.Verdicts, func(v Verdict) bool { return !v.Primary })
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		for _, c := range cs {
			if c.Variant == v.Variant {
				v.Effect, v.Method = c.Result().Effect, c.Method
			}
		}
		v.Verdict, v.PHolm = stats.Inconclusive, stats.Number{}
	}
	r.Answer = "There is no verdict before the end of the study: the intervals so far are valid at any time, and get narrower."
}

// Quick returns the study with half the blocks, trials of 0.4 times their length, and shorter
// searches: the same question, answered with wider intervals. The primary metric's part keeps
// three blocks, since two give no verdict, and so does a part that has only three.
func (s Spec) Quick() Spec {
	parts := make([]Part, len(s.Parts))
	for i, p := range s.Parts {
		least := 2
		if p.Name == s.Primary().Part || p.Blocks <= 3 {
			least = 3
		}
		p.Blocks = min(p.Blocks, max(least, p.Blocks/2))
		p.Seconds = min(p.Seconds, max(0.2, 0.4*p.Seconds))
		p.Warmup = min(p.Warmup, max(0.05, 0.4*p.Warmup))
		p.Search = p.Search.quick()
		parts[i] = p
	}
	s.Parts = parts
	s.quickSweeps()
	if s.Looks != nil {
		primary, _ := s.Part(s.Primary().Part)
		s.Looks = LooksUpTo(primary.Blocks, s.Looks.PrecisionPercent)
	}
	return s
}
