package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// answer sums up the study's result in one sentence, from the primary metric's
// verdicts: first the differences that were shown, largest first; then the
// equivalences; then what remained inconclusive.
func answer(s Spec, r Results) string {
	m, _ := MetricNamed(s.Primary().Metric)
	m = m.In(s.workload())
	groups := map[stats.Verdict][]Verdict{}
	for _, v := range r.Verdicts {
		if v.Primary {
			groups[v.Verdict] = append(groups[v.Verdict], v)
		}
	}
	var parts []string
	if shown := slices.Concat(groups[stats.Worse], groups[stats.Better]); len(shown) > 0 {
		parts = append(parts, "the "+m.Label+" is "+tellEffects(shown, m))
	}
	if eq := groups[stats.Equivalent]; len(eq) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s equivalent within %s", show.List(variantNames(eq)), isAre(len(eq)), eq[0].Margin()))
	}
	if un := groups[stats.Inconclusive]; len(un) > 0 {
		parts = append(parts, fmt.Sprintf("no difference is shown for %s", show.List(variantNames(un))))
	}
	for _, v := range groups[stats.Inconclusive] {
		if longer := v.Longer(s); longer != "" {
			parts = append(parts, longer)
		}
	}
	if bad := groups[stats.Invalid]; len(bad) > 0 {
		why := "too few trials are valid"
		if s.Design == Concurrent && len(bad[0].Warnings) > 0 { // which has no trials
			why, _, _ = strings.Cut(bad[0].Warnings[0], "; ")
		}
		parts = append(parts, fmt.Sprintf("there is no verdict for %s: %s", show.List(variantNames(bad)), why))
	}
	ended := ""
	if r.Ended != nil {
		ended = "G" + r.Ended.Outcome()[1:] + ". Of the metrics under it nothing is known."
		if len(parts) == 0 {
			return ended
		}
		ended = " " + ended
	}
	if gone := len(r.Unavailable); gone > 0 && gone >= len(s.Variants)-1 {
		return fmt.Sprintf("There is no answer on this testbed: no variant to compare with %s is available here.", s.Control)
	}
	if len(parts) == 0 {
		return "There is no answer yet: no variant has a verdict."
	}
	return fmt.Sprintf("Against %s, %s.%s", s.Control, strings.Join(parts, "; "), ended)
}

// tellEffects lists shown effects, the largest first.
func tellEffects(vs []Verdict, m Metric) string {
	list.Sort(vs, func(a, b Verdict) int { return cmp.Compare(size(b), size(a)) })
	var told []string
	for i, v := range vs {
		shown, _, _ := v.Size()
		effect, ok := shown.Get()
		if d, absolute := v.Difference.Get(); absolute {
			effect, ok = d, true
		}
		if !ok {
			told = append(told, string(v.Verdict)+" with "+v.Variant)
			continue
		}
		way := "higher"
		if effect < 0 {
			way = "lower"
		}
		text := fmt.Sprintf("%s %s with %s", v.Amount(), way, v.Variant)
		if ns, ok := v.EffectNS.Get(); ok && !v.Difference.Known() {
			text += fmt.Sprintf(" (%s", ByTime(m, ns))
			if i == 0 && m.Unit != "ns" {
				text += " per packet"
			}
			text += ")"
		}
		if adjusted, known := v.Adjusted.Get(); known && math.Abs(adjusted) < 0.95*math.Abs(effect) {
			text += fmt.Sprintf(" (%s without the winner's curse)", v.Unselected().Amount())
		}
		told = append(told, text)
	}
	if n := len(told); n > mostTold {
		last := fmt.Sprintf("%s, the least of %d differences", told[n-1], n)
		return strings.Join(told[:firstTold], ", ") + " … and " + last
	}
	return show.List(told)
}

// An answer lists up to mostTold effects; if there are more, only the first few and the last.
const (
	mostTold  = 8
	firstTold = 4
)

// ByTime prints an effect in ns with its sign. Where the metric is a time, it
// picks a unit: requests take milliseconds, packets nanoseconds.
func ByTime(m Metric, ns float64) string {
	if m.NS != IsTime {
		return show.Signed(ns, 0) + " ns"
	}
	if ns < 0 {
		return "−" + show.Nanos(-ns)
	}
	return "+" + show.Nanos(ns)
}

// size orders effects of one metric; doubling counts as much as halving.
func size(v Verdict) float64 {
	if points, ok := v.EffectPoints.Get(); ok {
		return math.Abs(points)
	}
	effect, _ := v.EffectPercent.Get()
	return math.Abs(math.Log1p(effect / 100))
}

func variantNames(vs []Verdict) []string {
	return list.Map(vs, func(v Verdict) string { return v.Variant })
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Seconds converts seconds to a time.Duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
