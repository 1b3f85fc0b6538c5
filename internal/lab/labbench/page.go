package labbench

import (
	"fmt"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// Page writes the tables for people. What got no time is a dash, never a
// number.
func (o Result) Page(p *show.Page) {
	p.Line(show.Grouped(o.Minutes, 0) + " minutes; " + o.Label)
	p.Line("")
	t := show.Table{Header: []string{"A/A, half-width of the 95 % interval", "one after the other", "slice by slice"}, Right: show.NumbersAfter(1)}
	for _, r := range []struct {
		what string
		w    Widths
	}{{"as it is", o.AA}, {"with a busy loop on the same CPU", o.Loaded}} {
		t.Add(r.what, percentOf(r.w.Sequential), percentOf(r.w.Interleaved))
	}
	t.Add("time of a study", secondsOf(o.AA.SequentialSeconds), secondsOf(o.AA.Seconds))
	p.Table(t)
	if o.AA.SequentialStudies == 0 || o.Loaded.Studies == 0 {
		p.Paragraph("  ", "  ", "–: there was no time for it; more minutes measure it.")
	}
	p.Line("")
	p.Line(fmt.Sprintf("Comparisons of nothing: %d of %d found something (%s); SD of an instance %s", o.Alarms.Found, o.Alarms.Studies,
		show.Optional(o.Alarms.Rate, func(v float64) string { return show.Grouped(100*v, 1) + " %" }), percentOf(o.Alarms.SD)))
	p.Line("")
	p.Line(fmt.Sprintf("Planted effects, studies of %s:", show.Grouped(o.PlantedSeconds, 0)+" s"))
	t = show.Table{Header: []string{"rules", "ns", "effect", "measured", "found"}, Right: show.NumbersAfter(0)}
	for _, e := range o.Planted {
		t.Add(show.Count(e.Rules), show.Optional(e.NS, show.Digits), percentOf(e.Effect), percentOf(e.Mean), fmt.Sprintf("%d of %d", e.Found, e.Of))
	}
	p.Table(t)
	if o.Smallest.Known() {
		p.Line("The smallest found in nine of ten: " + percentOf(o.Smallest))
	}
	p.Line("")
	p.Line("Large effects, both ways:")
	t = show.Table{Header: []string{"", "one after the other", "slice by slice"}}
	for _, a := range o.Agreement {
		t.Add(a.Variant, a.Sequential.TextWithBounds(), a.Interleaved.TextWithBounds())
	}
	p.Table(t)
}

func percentOf(n stats.Number) string {
	return show.Optional(n, func(v float64) string { return show.Grouped(v, 2) + " %" })
}

func secondsOf(n stats.Number) string {
	return show.Optional(n, func(v float64) string { return show.Grouped(v, 0) + " s" })
}
