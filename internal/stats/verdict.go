package stats

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/show"
)

// Verdict is the conclusion of a comparison.
type Verdict string

// The verdicts.
const (
	Better       Verdict = "better"       // a difference in the metric's good direction
	Worse        Verdict = "worse"        // a difference in its bad direction
	Equivalent   Verdict = "equivalent"   // shown to differ by less than the margin
	Inconclusive Verdict = "inconclusive" // neither a difference nor equivalence is shown
	Invalid      Verdict = "invalid"      // the trials do not allow a comparison
	Stopped      Verdict = "stopped"      // a guardrail ended the study; there is no statement about the metric
)

// bySeverity orders the verdicts from good to harmful.
var bySeverity = []Verdict{Better, Equivalent, Inconclusive, Worse, Invalid, Stopped}

// Verdicts lists all verdicts by severity, from good to harmful.
func Verdicts() []Verdict { return slices.Clone(bySeverity) }

// VerdictNames returns the names of Verdicts.
func VerdictNames() []string {
	return list.Map(bySeverity, func(v Verdict) string { return string(v) })
}

// ParseVerdict parses the name of a verdict; an unknown one is a usage error.
func ParseVerdict(word string) (Verdict, error) {
	v := Verdict(word)
	if !slices.Contains(bySeverity, v) {
		return "", hint.Unknown("verdict", word, VerdictNames())
	}
	return v, nil
}

// Compare orders verdicts by severity; unknown ones come first.
func (v Verdict) Compare(o Verdict) int {
	return cmp.Compare(slices.Index(bySeverity, v), slices.Index(bySeverity, o))
}

// Differs reports whether a difference is shown: better or worse.
func (v Verdict) Differs() bool { return v == Better || v == Worse }

// Ink returns the style of the verdict on a terminal.
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

// Direction says which direction of a metric is better.
type Direction string

// The directions.
const (
	HigherIsBetter Direction = "higher"
	LowerIsBetter  Direction = "lower"
	Undirected     Direction = "" // a difference is "better" when the value is higher
)

// Judge names the verdict on one effect: p is the p-value of "no difference",
// and pEquivalent that of "differs by the margin or more" (NaN without a
// margin), both already corrected for multiplicity.
//
// Equivalence comes first: a margin states the smallest effect that matters,
// so an effect shown to be smaller is equivalent even if it is shown to
// differ from zero (Lakens, SPPS 8, 2017).
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

// Result is the outcome of a comparison: an effect with its interval, p-values, n and
// verdict. Everything that stores or prints a comparison embeds it.
type Result struct {
	// N is the number of complete blocks, or of values in the smaller sample.
	N int `json:"n"`
	Effect
	P       Number  `json:"p_value"`
	PHolm   Number  `json:"p_holm"` // corrected over the comparisons made together
	Verdict Verdict `json:"verdict"`
}

// Result returns the comparison's outcome; what cannot be computed is unknown.
func (c *Comparison) Result() Result {
	return Result{N: c.N, Effect: c.reported(), P: Num(c.P), PHolm: Num(c.PHolm), Verdict: c.Verdict}
}

// Code names one kind of warning; codes are stable across releases.
type Code string

// The warnings of comparisons.
const (
	TooFew        Code = "too-few"        // no interval can be computed
	FewBlocks     Code = "few-blocks"     // the t interval relies on normality
	MissingBlocks Code = "missing-blocks" // blocks left out: a trial is missing or invalid
	NotPositive   Code = "not-positive"   // no logarithm: differences were analysed instead of ratios
	NoVariation   Code = "no-variation"   // all values equal: rounded, cached, or a counter that does not move
	Outliers      Code = "outliers"       // flagged, never dropped
	Drift         Code = "drift"          // the values move with time
	Correlated    Code = "autocorrelated" // neighbours in time resemble each other
	UnequalSpread Code = "unequal-spread" // variances differ too much to be pooled
	Underpowered  Code = "underpowered"   // the detectable effect is larger than the margin
	LateEffect    Code = "late-effect"    // a window affects the next one
	Bursts        Code = "bursts"         // windows far from their neighbours are left out
	AADoubt       Code = "aa-doubt"       // the A/A arm's interval allows effects as large
)

// Warning says what limits a result, and what to do about it.
type Warning struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // what is wrong, with numbers
	Action  string `json:"action"`  // what to do
}

func (w Warning) String() string { return w.Message + "; " + w.Action }

// muchWider is how many times the effect half an A/A interval must be for a verdict to be
// withdrawn. If arms scatter alike, both intervals have similar widths, and an effect that is only
// just significant is hardly larger than half of one.
const muchWider = 1.25

// Doubt withdraws a verdict that the study's A/A arm does not support. If the control differs from
// itself, it withdraws verdicts on effects up to the largest that the A/A interval allows. It also
// withdraws a verdict if half the A/A interval exceeds the effect (or the margin of an equivalence)
// by a quarter. An A/A arm with fewer blocks is rescaled as if it had as many.
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
