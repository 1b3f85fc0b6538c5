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
