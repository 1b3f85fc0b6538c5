package report

import (
	"bytes"
	"fmt"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// HTML renders the results as a self-contained page.
func HTML(s study.Spec, r study.Results) ([]byte, error) {
	var b bytes.Buffer
	err := Of(s, r).HTML(&b)
	return b.Bytes(), err
}

// Of returns a study's results as a document: the complete page, and which parts of it a terminal shows.
func Of(s study.Spec, r study.Results) document.Document {
	d := document.Document{Kicker: "linerate study " + s.Name, Title: r.Question}
	if r.Environment.Label != "" {
		d.Badges = append(d.Badges, r.Environment.Label)
	}
	if !r.Complete {
		d.Badges = append(d.Badges, "not complete")
	}
	d.Answer(r.Answer, "", "")
	curves := curveGroups(r)
	d.Add(head(r), document.OnPage(curveFigures(curves)), document.OnPage{document.Heading("Effects")})
	d.Add(document.Figures(effectCharts(r, s.Primary()))...)
	d.Add(primaryTable(r))
	for _, l := range lackings(r) {
		d.Add(document.OnTerminal(func(p *show.Page) {
			p.Paragraph("  ", "    ", fmt.Sprintf("%s %s unavailable: %s", l.Variants, l.Are, l.Reason))
		}))
	}
	d.Add(document.OnTerminal(func(p *show.Page) { plots(p, r, curves) }))
	d.Add(others(r)...)
	d.Add(document.OnPage(inTime(r)))
	d.Add(study.Sections(s, r)...)
	if t := dutTable(r); len(t.Rows) > 0 {
		d.Add(document.Heading("The DUT's own counters"), t)
	}
	inside(&d, s, r)
	d.Add(document.OnPage(gatesAndInvalid(s, r)), document.OnPage(howMeasured(s, r)), document.OnTerminal(func(p *show.Page) { limits(p, r) }))
	return d
}

// head returns the top of a page: the key numbers for trusting the effects, and warnings. A
// terminal shows them at the end.
func head(r study.Results) (out document.OnPage) {
	out = append(out, tiles(r))
	for _, w := range r.Warnings {
		out = append(out, document.Warning(w))
	}
	for _, u := range lackings(r) {
		out = append(out, document.Warning(fmt.Sprintf("%s %s unavailable on this testbed: %s", u.Variants, u.Are, u.Reason)))
	}
	return append(out, document.Contents{})
}

// curveFigures draws the curves, with a description above each.
func curveFigures(groups []curveGroup) (out []document.Block) {
	for _, g := range groups {
		note := strings.Join(g.words(), ". ")
		if note != "" {
			note += "."
		}
		out = append(out, document.Figures(chart.Draw(g.title(), note, curveChart(g)))...)
	}
	if len(out) == 0 {
		return nil
	}
	return append([]document.Block{document.Heading("Curves"), document.Note("Both axes are logarithmic. Points are means over blocks with 95 % intervals, for variants those of the distance from the control. The horizontal dashed line is the control, other dashed lines are the fitted law, a vertical one is the knee.")}, out...)
}

// tiles returns the key numbers for trusting the effects.
func tiles(r study.Results) document.Tiles {
	valid, all := study.Valid(r.Trials)
	aa := "A/A: the control against itself"
	if size, _, _ := r.AA.Size(); size.Known() {
		aa += ", " + r.AA.Text()
	}
	floor := document.Tile{Value: r.Floor(), Label: "noise floor: smaller effects cannot be distinguished from zero"}
	if r.Plans() {
		floor.Label += "; minimum detectable effect " + r.Detectable() + ", power 0.8"
	}
	if floor.Value == show.Unknown {
		floor = document.Tile{Value: r.Detectable(), Label: "minimum detectable effect, power 0.8; the A/A arm has too few " + study.Replicates(r.AA.Metric) + " for a noise floor"}
	}
	return document.Tiles{{Value: string(r.AA.Verdict), Label: aa}, floor, {Value: fmt.Sprintf("%d of %d", valid, all), Label: "trials valid"}}
}

// primaryTable shows the verdicts by the primary metric, and the unavailable variants.
func primaryTable(r study.Results) document.Table {
	m, part := primary(r)
	t := verdictTable(r, study.Goal{Metric: m.Name, Part: part})
	n := 0
	for _, v := range r.Verdicts {
		if v.Primary {
			n = max(n, v.N)
		}
	}
	if n == 0 { // nothing to compare with
		n = len(r.Values(part, r.Control, m.Name))
	}
	t.Title = fmt.Sprintf("%s, part %s, %d %s; effects against %s with 95 %% intervals", m.Label, part, n, study.Replicates(m.Name), r.Control)
	for _, u := range r.Unavailable {
		t.Rows = append(t.Rows, []string{u.Variant, "–", "", "", "", "", "", "unavailable"})
	}
	return t
}

// verdictTable shows the verdicts by a metric in a part.
func verdictTable(r study.Results, g study.Goal) document.Table {
	m, _ := r.Metric(g.Metric)
	n := fmt.Sprint(len(r.Values(g.Part, r.Control, m.Name)))
	if m.Mode == study.ConnectionsMode || m.Mode == study.FlowsMode { // its values are windows, while n counts units
		n = ""
	}
	t := document.Table{
		Header: []string{"variant", m.Label, "effect", "95 % interval", nsHeader(m), "n", pHeader(r, g.Metric, g.Part), "verdict"},
		Rows:   [][]string{{r.Control, controlMean(r, m, g), "control", "", "", n, "", ""}},
	}
	for _, v := range r.Verdicts {
		if v.Metric != g.Metric || v.Part != g.Part {
			continue
		}
		t.Note = "Decided by " + v.Method + "."
		t.Rows = append(t.Rows, []string{v.Variant, show.Optional(v.VariantMean, m.Text),
			v.Text(), v.Bounds(), effectNS(m, v), fmt.Sprint(v.N), show.Optional(v.PHolm, show.P), string(v.Verdict)})
	}
	return t
}

// mostOthers is up to how many verdicts on other metrics and parts a terminal lists all;
// beyond it lists only those that differ.
const mostOthers = 40

// others shows the verdicts on all metrics and parts other than the primary ones.
func others(r study.Results) []document.Block {
	all := list.Filter(r.Verdicts, func(v study.Verdict) bool { return !v.Primary })
	if len(all) == 0 {
		return nil
	}
	table := func(title string, of []study.Verdict) document.Table {
		t := document.Table{Title: title, Header: []string{"part", "metric", "variant", r.Control, "with it", "effect", "95 % interval", "p", "verdict"}}
		for _, v := range of {
			m, _ := r.Metric(v.Metric)
			t.Rows = append(t.Rows, []string{v.Part, m.Label, v.Variant, show.Optional(v.ControlMean, m.Text), show.Optional(v.VariantMean, m.Text),
				v.Text(), v.Bounds(), show.Optional(v.PHolm, show.P), string(v.Verdict)})
		}
		return t
	}
	few := table("other metrics and parts", all)
	if len(all) > mostOthers {
		few = table(fmt.Sprintf("other metrics and parts: those of %d that differ", len(all)), list.Filter(all, func(v study.Verdict) bool { return v.Verdict.Differs() }))
	}
	return []document.Block{document.OnPage{document.Heading("Other metrics and parts"), table("", all)},
		document.OnTerminal(func(p *show.Page) { document.Print(p, few) })}
}

// controlMean returns the control's mean, from the verdict if there is just one: variants may have own controls.
func controlMean(r study.Results, m study.Metric, g study.Goal) string {
	of := list.Filter(r.Verdicts, func(v study.Verdict) bool { return v.Metric == g.Metric && v.Part == g.Part && v.N > 0 })
	if len(of) == 1 {
		return show.Optional(of[0].ControlMean, m.Text)
	}
	if x := r.Values(g.Part, r.Control, m.Name); len(x) > 0 {
		return m.Text(stats.Mean(x))
	}
	return show.Unknown
}
