package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Terminal writes the report for people: the question, one sentence of
// answer, tables, a dot plot, and what limits the result.
func Terminal(w io.Writer, s study.Spec, r study.Results, st show.Style) error {
	return Of(s, r).Terminal(w, st)
}

// plots show every trial as a dot, or what the study's curves say.
func plots(p *show.Page, s study.Spec, r study.Results, curves []curveGroup) {
	if len(curves) == 0 {
		strips(p, r)
	}
	for _, g := range curves {
		p.Caption(g.title())
		for _, w := range g.words() {
			p.Paragraph("  ", "    ", w)
		}
		p.Line("")
	}
}

// strips draws every valid trial of the primary metric.
func strips(p *show.Page, r study.Results) {
	m, part := primary(r)
	p.Strips(list.Map(r.Arms(part), func(arm string) show.Strip {
		return show.Strip{Name: r.ArmName(arm), Values: r.Values(part, arm, m.Name)}
	}), m.Text)
}

// pHeader names the correction of the p-values below it.
func pHeader(r study.Results, metric, part string) string {
	for _, v := range r.Verdicts {
		if v.Metric == metric && v.Part == part && strings.Contains(v.Method, "Bonferroni") {
			return "p (Bonferroni)"
		}
	}
	return "p (Holm)"
}

func nsHeader(m study.Metric) string {
	switch {
	case m.NS == study.NoNS:
		return ""
	case m.NS == study.IsTime:
		return "time"
	case m.Unit == "ns":
		return "ns"
	}
	return "ns/packet"
}

// effectNS is the cell below nsHeader.
func effectNS(m study.Metric, v study.Verdict) string {
	switch m.NS {
	case study.NoNS:
		return ""
	case study.IsTime:
		return show.Optional(v.EffectNS, func(x float64) string { return study.ByTime(m, x) })
	}
	return show.Optional(v.EffectNS, func(x float64) string { return show.Signed(x, nsDecimals(x)) })
}

// others shows what else was watched on a live host, and the means of all parts but the
// primary metric's, with a mark where the verdict is not equivalent: parts in a row that have
// the same columns in one table.
func others(p *show.Page, s study.Spec, r study.Results) {
	if s.OnLiveHost() {
		document.Print(p, alsoWatched(r))
		return
	}
	_, primaryPart := primary(r)
	var group []string
	flush := func() {
		if len(group) > 0 {
			document.Print(p, partsTable(r, group))
		}
		group = nil
	}
	for _, part := range r.Measured() {
		if part == primaryPart || len(columnsOf(r, part)) == 0 {
			continue
		}
		if len(group) > 0 && !slices.Equal(headOf(r, group[0]), headOf(r, part)) {
			flush()
		}
		group = append(group, part)
	}
	flush()
}

// alsoWatched has the verdicts by the other metrics of a live host.
func alsoWatched(r study.Results) document.Table {
	t := document.Table{Header: []string{"also watched (exploratory)", r.Control, "variant", "", "effect", "95 % interval", "verdict"}}
	for _, v := range r.Verdicts {
		m, _ := study.MetricNamed(v.Metric)
		switch {
		case v.Primary:
		case v.N == 0:
			t.Rows = append(t.Rows, []string{m.Label, "", v.Variant, "", "", "", "nothing to measure"})
		default:
			t.Rows = append(t.Rows, []string{m.Label, show.Optional(v.ControlMean, m.Text), v.Variant, show.Optional(v.VariantMean, m.Text), v.Text(), v.Bounds(), string(v.Verdict)})
		}
	}
	return t
}

// columnsOf are the metrics that a part has values of. Of requests there are
// many: those that were asked about.
func columnsOf(r study.Results, part string) (out []study.Metric) {
	for _, m := range study.Metrics() {
		if len(r.Values(part, r.Control, m.Name)) > 0 && (!m.Detail || judged(r, part, m.Name)) {
			out = append(out, m.In(r.Workload()))
		}
	}
	return out
}

func headOf(r study.Results, part string) (out []string) {
	return list.Map(columnsOf(r, part), short)
}

// partsTable shows parts of the same columns.
func partsTable(r study.Results, group []string) document.Table {
	t := document.Table{Title: "part " + group[0], Header: []string{"variant"}}
	if len(group) > 1 {
		t.Title, t.Header = "the other parts", []string{"part", "variant"}
	}
	t.Title += ", means; > and < mark verdicts: better, worse"
	t.Header = append(t.Header, headOf(r, group[0])...)
	for _, part := range group {
		for i, arm := range slices.DeleteFunc(r.Arms(part), func(arm string) bool { return arm == study.AA }) {
			var row []string
			switch {
			case len(group) > 1 && i == 0:
				row = []string{part}
			case len(group) > 1:
				row = []string{""}
			}
			row = append(row, arm)
			for _, m := range columnsOf(r, part) {
				row = append(row, cell(r, part, arm, m))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// judged reports whether a metric of a part has a verdict.
func judged(r study.Results, part, metric string) bool {
	return slices.ContainsFunc(r.Verdicts, func(v study.Verdict) bool { return v.Part == part && v.Metric == metric })
}

// cell is a mean with its verdict's mark.
func cell(r study.Results, part, arm string, m study.Metric) string {
	x := r.Values(part, arm, m.Name)
	if len(x) == 0 {
		return "–  "
	}
	mark := " "
	for _, v := range r.Verdicts {
		if v.Part == part && v.Variant == arm && v.Metric == m.Name {
			switch v.Verdict {
			case stats.Better:
				mark = ">"
			case stats.Worse:
				mark = "<"
			}
		}
	}
	return m.Text(stats.Mean(x)) + " " + mark
}

// short heads a narrow column.
func short(m study.Metric) string { return cmp.Or(m.Short, m.Label) }

// measuredOn names a testbed and what is known of its machine.
func measuredOn(e study.Environment) string {
	known := slices.DeleteFunc([]string{e.Kernel, e.CPU}, func(s string) bool { return s == "" })
	if len(known) == 0 {
		return e.Label
	}
	whose := ""
	if e.On(testbed.KindPorts) {
		whose = "generator and receiver: "
	}
	return fmt.Sprintf("%s (%s%s)", e.Label, whose, strings.Join(known, ", "))
}

// limits prints the limits of every result: the A/A arm, the noise floor, the detectable
// effect, and what the testbed does not represent.
func limits(p *show.Page, r study.Results) {
	aa := fmt.Sprintf("A/A: %s against itself %s: %s.", r.Control, r.AA.TextWithBounds(), r.AA.Verdict)
	if r.Floor() == show.Unknown {
		aa += fmt.Sprintf(" Too few %s for a noise floor", study.Replicates(r.AA.Metric))
	} else {
		aa += " Noise floor " + r.Floor()
	}
	if r.Plans() {
		aa += fmt.Sprintf(", minimum detectable effect %s (power 0.8)", r.Detectable())
	}
	aa += "."
	text := []string{aa}
	if r.Environment.Label != "" {
		text = append(text, fmt.Sprintf("Measured on %s: %s.", measuredOn(r.Environment), carriesOver(r.Environment)))
	}
	if beds := r.BedsLine(); beds != "" {
		text = append(text, beds)
	}
	text = append(text, r.Warnings...)
	for _, t := range text {
		p.Paragraph("  ", "    ", t)
	}
}
