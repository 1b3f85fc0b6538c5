package study

import (
	"fmt"
	"slices"

	"linerate/internal/chart"
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

// addSlices shows what slices were like, and the machine under them.
func addSlices(to *Section, s Spec, r Results, part string, shown bool) {
	if len(turnsOf(r, part, s.Control)) == 0 {
		return
	}
	to.figure(shown, "slices of each arm · part "+part,
		"Time per frame of the whole chain: 5th to 95th percentile, the box from the 25th to the 75th, a dot at the median; medians over instances. Logarithmic.",
		func(w float64) string { return chart.Boxes(armBoxes(r, part), true, nanos, w, sliceLabel) })
	to.figure(shown, "the machine · part "+part,
		"The control's slices, instance by instance in the order of time: how fast the machine was, and how much it moved within one.",
		func(w float64) string { return chart.Boxes(instanceBoxes(s, r, part), false, nanos, w, sliceLabel) })
	to.add(shown, document.OnPage{sliceTable(r, part)})
}

func armBoxes(r Results, part string) (all []chart.Box) {
	for i, arm := range r.Arms(part) {
		b := chart.Box{Name: r.ArmName(arm), Colour: i}
		known := true
		for q := range b.Quantiles {
			var v []float64
			for _, t := range turnsOf(r, part, arm) {
				if len(t.of.Quantiles) == len(b.Quantiles) {
					v = append(v, t.of.Quantiles[q])
				}
			}
			known = known && len(v) > 0
			b.Quantiles[q] = stats.Median(v)
		}
		if known {
			b.Title = fmt.Sprintf("%s: median %s ns, 90 %% of slices from %s to %s", b.Name, show.Digits(b.Quantiles[2]), show.Digits(b.Quantiles[0]), show.Digits(b.Quantiles[4]))
			all = append(all, b)
		}
	}
	return all
}

func instanceBoxes(s Spec, r Results, part string) (all []chart.Box) {
	for _, t := range turnsOf(r, part, s.Control) {
		b := chart.Box{Name: fmt.Sprintf("instance %d", t.trial.Block)}
		if copy(b.Quantiles[:], t.of.Quantiles) == len(b.Quantiles) {
			b.Title = fmt.Sprintf("%s: median %s ns, %d of %d rounds undisturbed", b.Name, show.Digits(b.Quantiles[2]), t.of.GoodRounds, t.of.Rounds)
			all = append(all, b)
		}
	}
	return all
}

// sliceLabel describes pictures of slices.
const sliceLabel = "distributions of the time per frame of slices"

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

// sliceTable counts rounds and what disturbed them.
func sliceTable(r Results, part string) document.Table {
	t := document.Table{Title: "Rounds · part " + part,
		Note:   "A round is undisturbed for an arm when neither its slice nor the control's was disturbed; only such rounds count. Verdicts count instances, never rounds.",
		Header: []string{"variant", "instances", "rounds", "undisturbed", "CPU shared", "frames late", "began with others' frames", "stalled", "carry-over"}}
	for _, arm := range r.Arms(part) {
		var d Disturbed
		rounds, good := 0, 0
		all := turnsOf(r, part, arm)
		for _, one := range all {
			rounds, good = rounds+one.of.Rounds, good+one.of.GoodRounds
			d.Switched += one.of.Disturbed.Switched
			d.Underway += one.of.Disturbed.Underway
			d.Leftover += one.of.Disturbed.Leftover
			d.Stalled += one.of.Disturbed.Stalled
		}
		carry := "–"
		if i := slices.IndexFunc(r.CarryOver, func(c CarryOver) bool { return c.Variant == arm }); i >= 0 {
			carry = show.Optional(r.CarryOver[i].EffectPercent, show.SignedPercent)
		}
		t.Rows = append(t.Rows, []string{r.ArmName(arm), fmt.Sprint(len(all)), show.Grouped(float64(rounds), 0),
			show.WholePercent(100 * float64(good) / float64(max(1, rounds))), fmt.Sprint(d.Switched), fmt.Sprint(d.Underway),
			fmt.Sprint(d.Leftover), fmt.Sprint(d.Stalled), carry})
	}
	return t
}
