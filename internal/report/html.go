package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// HTML renders the results as one page that loads nothing.
func HTML(s study.Spec, r study.Results) ([]byte, error) {
	var b bytes.Buffer
	err := Of(s, r).HTML(&b)
	return b.Bytes(), err
}

// Of is the page of a study's results as a document.
func Of(s study.Spec, r study.Results) document.Document {
	d := document.Document{Kicker: "linerate study " + s.Name, Title: r.Question}
	if r.Environment.Label != "" {
		d.Badges = append(d.Badges, r.Environment.Label)
	}
	if !r.Complete {
		d.Badges = append(d.Badges, "not complete")
	}
	d.Answer(r.Answer, "", "")
	d.Add(tiles(r))
	for _, w := range r.Warnings {
		d.Add(document.Warning(w))
	}
	for _, u := range lackings(r) {
		d.Add(document.Warning(fmt.Sprintf("%s %s unavailable on this testbed: %s", u.Variants, u.Are, u.Reason)))
	}
	d.Add(document.Contents{})
	at := kindSections(s, r)
	d.Add(curveFigures(r)...)
	d.Add(at[study.Ahead]...)
	d.Add(document.Heading("Effects"))
	d.Add(document.Figures(effectCharts(r, s.Primary()))...)
	d.Add(otherEffects(s, r)...)
	d.Add(timelines(s, r)...)
	d.Add(at[study.AfterTrials]...)
	if t := dutTable(r); len(t.Rows) > 0 {
		title := t.Title
		t.Title = ""
		d.Add(document.Heading(title), t)
	}
	d.Add(at[study.AfterCounters]...)
	inside(&d, s, r)
	d.Add(at[study.AtEnd]...)
	d.Add(document.Heading("Verdicts in numbers"))
	for _, g := range s.Metrics {
		d.Add(verdictTable(r, g))
	}
	d.Add(gatesAndInvalid(s, r)...)
	d.Add(howMeasured(s, r)...)
	return d
}

// curveFigures draws the curves, with what they say above each.
func curveFigures(r study.Results) (out []document.Block) {
	for _, g := range curveGroups(r) {
		note := strings.Join(g.words(), ". ")
		if note != "" {
			note += "."
		}
		out = append(out, document.Figures(chart.Draw(g.title(), note, func(w float64) string { return curveChart(g, w) }))...)
	}
	if len(out) == 0 {
		return nil
	}
	return append([]document.Block{document.Heading("Curves"), document.Note("Both axes are logarithmic. Points are means over blocks with 95 % intervals, for variants those of the distance from the control. The horizontal dashed line is the control, other dashed lines are the fitted law, a vertical one is the knee.")}, out...)
}

// timelines draws every trial of the parts in time order.
func timelines(s study.Spec, r study.Results) []document.Block {
	var f figures
	for _, part := range s.MeasuredParts(&r) {
		if m, ok := study.KindOf(part).Timeline(part); ok {
			f.add(s.Unfolded(&r, part.Name), chart.Draw(m.Label+" · part "+part.Name, "", func(w float64) string { return timeline(r, m, part.Name, w) }))
		}
	}
	if len(f.shown)+len(f.folded) == 0 {
		return nil
	}
	return append([]document.Block{document.Heading("Every trial in time order"),
		document.Note("One strip per variant shows the distance of each trial from the variant's mean, all on one scale. A slope is drift, width is noise; hollow points are invalid trials. The number at the right is the mean.")}, f.blocks()...)
}

// tiles are the study's result, and the numbers without which no effect should be
// believed.
func tiles(r study.Results) document.Tiles {
	valid, all := study.Valid(r.Trials)
	aa := "A/A: the control against itself"
	if size, _, _ := r.AA.Size(); size.Known() {
		aa += ", " + r.AA.Text()
	}
	floor := document.Tile{Value: r.Floor(), Label: "noise floor: smaller effects cannot be distinguished from zero; minimum detectable effect " + r.Detectable() + ", power 0.8"}
	if floor.Value == show.Unknown {
		floor = document.Tile{Value: r.Detectable(), Label: "minimum detectable effect, power 0.8; the A/A arm has too few " + replicates(r.AA.Metric) + " for a noise floor"}
	}
	return append(resultTile(r),
		document.Tile{Value: string(r.AA.Verdict), Label: aa}, floor,
		document.Tile{Value: fmt.Sprintf("%d of %d", valid, all), Label: "trials valid"})
}

// resultTile counts the verdicts by the primary metric; of one variant it has the
// effect.
func resultTile(r study.Results) document.Tiles {
	of := list.Filter(r.Verdicts, func(v study.Verdict) bool { return v.Primary })
	if len(of) == 0 {
		return nil
	}
	m, _ := r.Metric(of[0].Metric)
	if len(of) == 1 {
		value := string(of[0].Verdict)
		if size, _, _ := of[0].Size(); size.Known() {
			value = of[0].Text() + " " + value
		}
		return document.Tiles{{Value: value, Label: of[0].Variant + " against " + r.Control + ", by " + m.Label}}
	}
	slices.SortStableFunc(of, func(a, b study.Verdict) int { return b.Verdict.Compare(a.Verdict) })
	var counts []string
	for i := 0; i < len(of); {
		n := i
		for n < len(of) && of[n].Verdict == of[i].Verdict {
			n++
		}
		counts = append(counts, fmt.Sprintf("%d %s", n-i, of[i].Verdict))
		i = n
	}
	return document.Tiles{{Value: strings.Join(counts, ", "), Label: fmt.Sprintf("of %d variants against %s, by %s", len(of), r.Control, m.Label)}}
}

func verdictTable(r study.Results, g study.Goal) document.Table {
	m, _ := r.Metric(g.Metric)
	t := document.Table{
		Title:  m.Label + " · part " + g.Part,
		Header: []string{"variant", "mean", "effect", "95 % interval", nsHeader(m), "n", pHeader(r, g.Metric, g.Part), "p Welch", "p Mann–Whitney", "verdict"},
	}
	t.Rows = append(t.Rows, []string{r.Control, meanOf(r, m, g.Part, r.Control), "control", "", "", fmt.Sprint(len(r.Values(g.Part, r.Control, m.Name))), "", "", "", ""})
	for _, v := range r.Verdicts {
		if v.Metric != g.Metric || v.Part != g.Part {
			continue
		}
		t.Note = "Decided by " + v.Method + "."
		t.Rows = append(t.Rows, []string{v.Variant, measured(m, v.VariantMean),
			v.Text(), v.Bounds(), effectNS(m, v, nsDecimals),
			fmt.Sprint(v.N), show.Optional(v.PHolm, show.P), show.Optional(v.PWelch, show.P), show.Optional(v.PMannWhitney, show.P), string(v.Verdict)})
	}
	return t
}

func meanOf(r study.Results, m study.Metric, part, arm string) string {
	x := r.Values(part, arm, m.Name)
	if len(x) == 0 {
		return "–"
	}
	return m.Text(stats.Mean(x))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
