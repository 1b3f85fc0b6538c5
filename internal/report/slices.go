package report

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// turn is what an interleaved trial's slices were like.
type turn struct {
	trial study.Trial
	of    *study.Interleaved
}

// turnsOf are the trials of an arm in a part that took turns with others.
func turnsOf(r study.Results, part, arm string) (all []turn) {
	for _, t := range r.Trials {
		if t.Part == part && t.Variant == arm && t.Observed != nil && t.Observed.Interleaved != nil {
			all = append(all, turn{t, t.Observed.Interleaved})
		}
	}
	return all
}

// boxes of the distribution of time per frame.
const boxQuantiles = 5 // 5, 25, 50, 75 and 95 %

// box is one distribution in a chart.
type box struct {
	name, title string
	q           []float64
	colour      int
}

// sliceCharts shows what slices were like, and the machine under them.
func (p *htmlPage) sliceCharts(s study.Spec, r study.Results, part study.Part, shown bool) {
	if len(turnsOf(r, part.Name, s.Control)) == 0 {
		return
	}
	p.Slices.add(shown, picture("slices of each arm · part "+part.Name,
		"Time per frame of the whole chain: 5th to 95th percentile, the box from the 25th to the 75th, a dot at the median; medians over instances. Logarithmic.",
		func(w float64) string { return boxPlot(armBoxes(r, part.Name), w, true) }))
	p.Slices.add(shown, picture("the machine · part "+part.Name,
		"The control's slices, instance by instance in the order of time: how fast the machine was, and how much it moved within one.",
		func(w float64) string { return boxPlot(instanceBoxes(s, r, part.Name), w, false) }))
	if shown {
		p.SliceTables = append(p.SliceTables, sliceTable(r, part.Name))
	} else {
		p.MoreSliceTables = append(p.MoreSliceTables, sliceTable(r, part.Name))
	}
}

func armBoxes(r study.Results, part string) (all []box) {
	for i, arm := range arms(r, part) {
		b := box{name: armName(r, arm), colour: i}
		for q := range boxQuantiles {
			var v []float64
			for _, t := range turnsOf(r, part, arm) {
				if len(t.of.Quantiles) == boxQuantiles {
					v = append(v, t.of.Quantiles[q])
				}
			}
			if len(v) > 0 {
				b.q = append(b.q, stats.Median(v))
			}
		}
		if len(b.q) == boxQuantiles {
			b.title = fmt.Sprintf("%s: median %s ns, 90 %% of slices from %s to %s", b.name, show.Digits(b.q[2]), show.Digits(b.q[0]), show.Digits(b.q[4]))
			all = append(all, b)
		}
	}
	return all
}

func instanceBoxes(s study.Spec, r study.Results, part string) (all []box) {
	for _, t := range turnsOf(r, part, s.Control) {
		if len(t.of.Quantiles) == boxQuantiles {
			name := fmt.Sprintf("instance %d", t.trial.Block)
			all = append(all, box{name: name, q: t.of.Quantiles,
				title: fmt.Sprintf("%s: median %s ns, %d of %d rounds undisturbed", name, show.Digits(t.of.Quantiles[2]), t.of.GoodRounds, t.of.Rounds)})
		}
	}
	return all
}

// boxPlot draws distributions beneath each other on one scale of ns.
func boxPlot(all []box, width float64, log bool) string {
	if len(all) == 0 {
		return ""
	}
	narrow := width < 500
	left, right, top, strip := 10.0, 64.0, 8.0, 26.0
	if narrow {
		strip = 42
	}
	x := scale{from: math.Inf(1), to: math.Inf(-1), log: log}
	for _, b := range all {
		x.from, x.to = min(x.from, b.q[0]), max(x.to, b.q[boxQuantiles-1])
		right = max(right, 12+1.1*textWidth(medianText(b))) // it is bold
		if !narrow {
			left = max(left, 14+textWidth(b.name))
		}
	}
	x.left, x.span = left+8, width-left-right-16
	bottom := top + strip*float64(len(all))
	c := &canvas{w: width, h: bottom + 26}
	for _, v := range x.ticks(5) {
		c.line("grid", x.at(v), top, x.at(v), bottom)
		c.tick(x.at(v), bottom+16, show.Grouped(v, 0)+" ns")
	}
	for i, b := range all {
		mid := top + strip*(float64(i)+0.5)
		if narrow {
			c.text("name", "start", left, mid-6, b.name)
			mid += 9
		} else {
			c.text("name", "end", left-10, mid+4, b.name)
		}
		class := fmt.Sprintf("c%d", b.colour%8)
		c.line("thread "+class, x.at(b.q[0]), mid, x.at(b.q[4]), mid)
		c.rect("block", x.at(b.q[1]), mid-6, max(1, x.at(b.q[3])-x.at(b.q[1])), 12)
		c.dot("trial "+class, x.at(b.q[2]), mid, 4, b.title)
		c.text("number", "start", width-right+6, mid+4, medianText(b))
	}
	return c.svg(chartClass(narrow), "distributions of the time per frame of slices")
}

func medianText(b box) string { return show.Grouped(b.q[2], 0) + " ns" }

// redoneTable counts the slices of overloaded DUTs that were done again, where any
// were.
func redoneTable(s study.Spec, r study.Results) (tables []htmlTable) {
	t := htmlTable{Header: []string{"part", "variant", "trials", "done again", "generator fell short", "router waited for its CPU"},
		Note: "One in which the generator fell short of its rate, or the router waited for its CPU, is in no metric: it was done again at once"}
	for _, part := range s.Parts {
		for _, arm := range arms(r, part.Name) {
			if sum := r.RedoneIn(part.Name, arm); sum != nil {
				t.Rows = append(t.Rows, []string{part.Name, armName(r, arm), fmt.Sprint(len(turnsOf(r, part.Name, arm))),
					fmt.Sprint(sum.Slices), fmt.Sprint(sum.Slices - sum.Starved), fmt.Sprint(sum.Starved)})
			}
		}
	}
	if len(t.Rows) > 0 {
		tables = append(tables, t)
	}
	return tables
}

// sliceTable counts rounds and what disturbed them.
func sliceTable(r study.Results, part string) htmlTable {
	t := htmlTable{Title: "Rounds · part " + part,
		Note:   "A round is undisturbed for an arm when neither its slice nor the control's was disturbed; only such rounds count. Instances are what is counted in verdicts, never rounds",
		Header: []string{"variant", "instances", "rounds", "undisturbed", "CPU shared", "frames late", "began with others' frames", "stalled", "changes the next by"}}
	for _, arm := range arms(r, part) {
		var d study.Disturbed
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
		if i := slices.IndexFunc(r.CarryOver, func(c study.CarryOver) bool { return c.Variant == arm }); i >= 0 {
			carry = show.Optional(r.CarryOver[i].EffectPercent, show.SignedPercent)
		}
		t.Rows = append(t.Rows, []string{armName(r, arm), fmt.Sprint(len(all)), show.Grouped(float64(rounds), 0),
			fmt.Sprintf("%.0f %%", 100*float64(good)/float64(max(1, rounds))), fmt.Sprint(d.Switched), fmt.Sprint(d.Underway),
			fmt.Sprint(d.Leftover), fmt.Sprint(d.Stalled), carry})
	}
	return t
}
