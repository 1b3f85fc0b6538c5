package stats

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts.
const (
	Better       Verdict = "better"       // a difference, in the metric's good direction
	Worse        Verdict = "worse"        // a difference, in its bad direction
	Equivalent   Verdict = "equivalent"   // shown to differ by less than the margin
	Inconclusive Verdict = "inconclusive" // neither a difference nor equivalence is shown
	Invalid      Verdict = "invalid"      // the trials do not allow a comparison
	Stopped      Verdict = "stopped"      // a guardrail ended the study: nothing is said of the metric
)

// bySeverity orders the verdicts from good news to harm.
var bySeverity = []Verdict{Better, Equivalent, Inconclusive, Worse, Invalid, Stopped}

// Verdicts lists all verdicts by severity: from good news to harm.
func Verdicts() []Verdict { return slices.Clone(bySeverity) }

// VerdictNames are the words of Verdicts.
func VerdictNames() []string {
	names := make([]string, len(bySeverity))
	for i, v := range bySeverity {
		names[i] = string(v)
	}
	return names
}

// ParseVerdict reads a verdict's word; an unknown one is a usage error.
func ParseVerdict(word string) (Verdict, error) {
	v := Verdict(word)
	if !slices.Contains(bySeverity, v) {
		return "", hint.Unknown("verdict", word, VerdictNames())
	}
	return v, nil
}

// Compare orders by severity; what is no verdict comes first.
func (v Verdict) Compare(o Verdict) int {
	return cmp.Compare(slices.Index(bySeverity, v), slices.Index(bySeverity, o))
}

// Differs reports whether a difference is shown: better or worse.
func (v Verdict) Differs() bool { return v == Better || v == Worse }

// Ink is how a terminal shows the verdict.
func (v Verdict) Ink() show.Ink {
	switch v {
	case Better:
		return show.Good
	case Worse, Stopped:
		return show.Bad
	case Equivalent:
		return show.Note
	case Inconclusive, Invalid:
		return show.Doubt
	}
	return show.Plain
}

// Direction says which way a metric is better.
type Direction string

// The directions.
const (
	HigherIsBetter Direction = "higher"
	LowerIsBetter  Direction = "lower"
	Undirected     Direction = "" // a difference is "better" when the value is higher
)

// Judge names the verdict of one effect: p is the p-value of "no difference"
// and pEquivalent that of "differs by the margin or more" (NaN without a
// margin), both already corrected for multiplicity.
//
// Equivalence is asked first: a margin states the smallest effect that
// matters, so an effect shown to be smaller is equivalent even when it is
// shown to differ from nothing (Lakens, SPPS 8, 2017).
func Judge(effect, p, pEquivalent, alpha float64, better Direction) Verdict {
	switch {
	case math.IsNaN(p):
		return Invalid
	case pEquivalent <= alpha:
		return Equivalent
	case !(p <= alpha) || effect == 0:
		return Inconclusive
	case (effect > 0) == (better != LowerIsBetter):
		return Better
	}
	return Worse
}

// Result is the outcome of a comparison: the one record of an effect with its interval,
// p-values, n and verdict. Everything that stores or prints a comparison embeds it.
type Result struct {
	// N is how many complete blocks, or values of the smaller sample, the
	// comparison rests on.
	N int `json:"n"`
	Effect
	P       Number  `json:"p_value"`
	PHolm   Number  `json:"p_holm"` // corrected over the comparisons made together
	Verdict Verdict `json:"verdict"`
}

// Result is the comparison's outcome; what cannot be computed is unknown.
func (c *Comparison) Result() Result {
	return Result{N: c.N, Effect: c.reported(), P: Num(c.P), PHolm: Num(c.PHolm), Verdict: c.Verdict}
}

// A Code names one kind of warning, stable across releases.
type Code string

// The warnings that comparisons carry.
const (
	TooFew        Code = "too-few"        // no interval at all can be given
	FewBlocks     Code = "few-blocks"     // the t interval leans on normality
	MissingBlocks Code = "missing-blocks" // blocks left out: a trial is missing or invalid
	NotPositive   Code = "not-positive"   // no logarithm: differences were analysed instead of ratios
	NoVariation   Code = "no-variation"   // all values equal: rounded, cached, or a counter that stands still
	Outliers      Code = "outliers"       // flagged, never dropped
	Drift         Code = "drift"          // the values move with time
	Correlated    Code = "autocorrelated" // neighbours in time resemble each other
	UnequalSpread Code = "unequal-spread" // variances differ so much that pooling them misleads
	Underpowered  Code = "underpowered"   // the detectable effect is larger than the margin
	LateEffect    Code = "late-effect"    // the window before still acts on the next
	AADoubt       Code = "aa-doubt"       // the A/A arm allows effects as large
)

// Warning says what limits a result and what to do about it.
type Warning struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // what is the matter, with its numbers
	Action  string `json:"action"`  // what to do
}

func (w Warning) String() string { return w.Message + "; " + w.Action }

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
