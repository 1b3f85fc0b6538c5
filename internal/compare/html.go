package compare

import (
	"fmt"
	"io"
	"math"
	"slices"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// WriteHTML writes the result as a page that loads nothing; command makes it again.
func (r Result) WriteHTML(w io.Writer, command string) error {
	d := document.Document{Kicker: "linerate compare", Title: r.title()}
	note, seen := "", map[string]bool{}
	for _, c := range r.Comparisons {
		d.Answer(c.Variant+" against "+c.Control+": ", words(c), string(c.Verdict))
		note = "Decided by " + c.Method + "; p-values are corrected over the comparisons (Holm). Detectable is what 80 % of such measurements would have shown."
		for _, warning := range c.Warnings {
			if text := warning.Message + ": " + warning.Action; !seen[text] {
				seen[text] = true
				d.Add(document.Warning(text))
			}
		}
	}
	d.Add(document.Figures(chart.Draw("Effects, with "+confidence(r)+" intervals", r.effectsNote(), r.forest))...)
	d.Add(document.Figures(chart.Draw("Samples", "The 5th to the 95th percentile, a box from the 25th to the 75th, a dot at the median, and every value as a stroke.", r.boxes))...)
	comparisons := r.table()
	comparisons.Note = note
	summary := r.summary(nil)
	d.Add(document.Heading("In numbers"), document.Table{Header: summary.Header, Rows: summary.Rows}, comparisons)
	if command != "" {
		d.Add(document.Heading("Repeat it"), document.Code(command))
	}
	return d.HTML(w)
}

// title names what is compared.
func (r Result) title() string {
	names := make([]string, len(r.Arms))
	for i, a := range r.Arms {
		names[i] = nameOf(a)
	}
	if r.Metric != "" {
		return r.Metric + ": " + show.List(names)
	}
	return show.List(names)
}

func (r Result) effectsNote() string {
	note := "Change against " + r.Arms[0].Name + " in percent."
	switch r.Options.Better {
	case stats.HigherIsBetter:
		note += " Higher is better."
	case stats.LowerIsBetter:
		note += " Lower is better."
	}
	if m := r.Options.MarginPercent; m > 0 {
		note += " The shaded band is the margin of ±" + show.Percent(m) + "."
	}
	return note
}

// forest draws the effects; nothing where none is known.
func (r Result) forest(width float64) string {
	var rows []chart.Effect
	some := false
	for _, c := range r.Comparisons {
		row := chart.Effect{Name: c.Variant, Class: string(c.Verdict), Main: string(c.Verdict), Known: c.Effect.Known() && inPercent(c)}
		if e := c.EffectPercent; row.Known {
			some = true
			row.Value, row.Low, row.High = e.Estimate, e.Low, e.High
			row.Main, row.Aside = show.SignedPercent(e.Estimate)+"  "+row.Main, show.Interval(e.Low, e.High)
		}
		rows = append(rows, row)
	}
	if !some {
		return ""
	}
	return chart.Forest(rows, r.Options.MarginPercent, chart.LinearPart(rows), func(v float64) string { return show.Tick(v) + " %" }, width, "effects with intervals")
}

// mostPoints is how many values a sample may have to be drawn one by one.
const mostPoints = 500

func (r Result) boxes(width float64) string {
	var all []chart.Box
	for i, a := range r.Arms {
		x := slices.Sorted(slices.Values(present(a.Values)))
		if len(x) == 0 {
			continue
		}
		b := chart.Box{Name: nameOf(a), Title: fmt.Sprintf("%s: median %s of %s", nameOf(a), show.Value(stats.Quantile(x, .5)), show.Plural(len(x), "value")), Colour: i}
		for k, q := range []float64{.05, .25, .5, .75, .95} {
			b.Quantiles[k] = stats.Quantile(x, q)
		}
		if len(x) <= mostPoints {
			b.Points = x
		}
		all = append(all, b)
	}
	return chart.Boxes(all, false, show.Value, width, "distributions of the samples")
}

// table has a row for each comparison.
func (r Result) table() document.Table {
	t := document.Table{Header: []string{"variant", "effect", confidence(r) + " interval", "difference", "p", "p (Holm)", "n", "detectable", "verdict"}}
	for _, c := range r.Comparisons {
		effect, interval, difference, detectable := show.Unknown, show.Unknown, show.Unknown, show.Unknown
		if c.Effect.Known() {
			effect, interval, difference = show.SignedPercent(c.EffectPercent.Estimate), show.Interval(c.EffectPercent.Low, c.EffectPercent.High), show.SignedValue(c.Difference.Estimate)
		}
		if !math.IsNaN(c.DetectablePercent) {
			detectable = show.Percent(c.DetectablePercent)
		}
		t.Rows = append(t.Rows, []string{c.Variant, effect, interval, difference, show.P(c.P), show.P(c.PHolm), sizes(c), detectable, string(c.Verdict)})
	}
	return t
}
