package study

import (
	"fmt"
	"slices"

	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// turn is what an interleaved trial's slices were like.
type turn struct {
	trial Trial
	of    *Interleaved
}

// turnsOf are the trials of an arm in a part that took turns with others.
func turnsOf(r Results, part, arm string) (all []turn) {
	for _, t := range r.Trials {
		if t.Part == part && t.Variant == arm && t.Attempt() > 0 {
			all = append(all, turn{t, t.Observed.Interleaved})
		}
	}
	return all
}

func nanos(v float64) string { return show.Grouped(v, 0) + " ns" }

// redoneTable counts the slices of overloaded DUTs that were done again, where any
// were.
func redoneTable(s Spec, r Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "trials", "repeated", "generator fell short", "router waited for its CPU"},
		Note: "A slice in which the generator fell short of its rate, or the router waited for its CPU, is left out of all metrics and repeated at once."}
	for _, part := range s.Parts {
		for _, arm := range r.Arms(part.Name) {
			if sum := RedoneIn(&r, part.Name, arm); sum != nil {
				t.Rows = append(t.Rows, []string{part.Name, r.ArmName(arm), fmt.Sprint(len(turnsOf(r, part.Name, arm))),
					fmt.Sprint(sum.Slices), fmt.Sprint(sum.Slices - sum.Starved), fmt.Sprint(sum.Starved)})
			}
		}
	}
	return t
}

// sliceTable counts rounds and what disturbed them, and gives the time per frame of the
// whole chain: medians over instances.
func sliceTable(r Results, part string) document.Table {
	t := document.Table{Title: "Rounds · part " + part,
		Note:   "A round is undisturbed for an arm when neither its slice nor the control's was disturbed; only such rounds count. Verdicts count instances, never rounds.",
		Header: []string{"variant", "instances", "rounds", "time a frame, 5 to 95 %", "undisturbed", "CPU shared", "frames late", "began with others' frames", "stalled", "carry-over"}}
	for _, arm := range r.Arms(part) {
		var d Disturbed
		rounds, good := 0, 0
		var low, high []float64
		all := turnsOf(r, part, arm)
		for _, one := range all {
			rounds, good = rounds+one.of.Rounds, good+one.of.GoodRounds
			if n := len(one.of.Quantiles); n > 0 {
				low, high = append(low, one.of.Quantiles[0]), append(high, one.of.Quantiles[n-1])
			}
			d.Switched += one.of.Disturbed.Switched
			d.Underway += one.of.Disturbed.Underway
			d.Leftover += one.of.Disturbed.Leftover
			d.Stalled += one.of.Disturbed.Stalled
		}
		carry := "–"
		if i := slices.IndexFunc(r.CarryOver, func(c CarryOver) bool { return c.Variant == arm }); i >= 0 {
			carry = show.Optional(r.CarryOver[i].EffectPercent, show.SignedPercent)
		}
		spread := show.Unknown
		if len(low) > 0 {
			spread = nanos(stats.Median(low)) + " … " + nanos(stats.Median(high))
		}
		t.Rows = append(t.Rows, []string{r.ArmName(arm), fmt.Sprint(len(all)), show.Grouped(float64(rounds), 0), spread,
			show.WholePercent(100 * float64(good) / float64(max(1, rounds))), fmt.Sprint(d.Switched), fmt.Sprint(d.Underway),
			fmt.Sprint(d.Leftover), fmt.Sprint(d.Stalled), carry})
	}
	return t
}
