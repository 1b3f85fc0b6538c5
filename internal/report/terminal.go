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
func Terminal(w io.Writer, r study.Results, st show.Style) error {
	p := &page{show.NewPage(st)}
	for _, l := range show.Wrap(r.Question, p.Columns()) {
		p.Line(p.Bold(l))
	}
	p.Line("")
	p.Paragraph("  ", "  ", r.Answer)
	metric, part := primary(r)
	p.Line("")
	p.primaryTable(r, metric, part)
	if len(curveGroups(r)) == 0 {
		p.dotPlots(r, metric, part)
	}
	p.curvePlots(r)
	p.kinds(r, part, study.Ahead)
	p.otherParts(r, part)
	p.kinds(r, part, study.AfterTrials)
	document.Print(p.Page, dutTable(r))
	p.kinds(r, part, study.AfterCounters)
	p.insideRows(r)
	p.limits(r)
	return p.Flush(w)
}

// kinds print what each has for a place.
func (p *page) kinds(r study.Results, part string, at study.Place) {
	for _, k := range slices.Backward(study.Kinds()) {
		k.Print(p.Page, r, part, at)
	}
}

// page is a page about results.
type page struct{ *show.Page }

// verdict paints a verdict by what it means.
func (p *page) verdict(v stats.Verdict) string { return p.Paint(v.Ink(), string(v)) }

// table adds a table; columns that right names hold numbers.
func (p *page) table(header []string, right []bool, rows [][]string) {
	p.Table(show.Table{Header: header, Right: right, Rows: rows})
}

func (p *page) primaryTable(r study.Results, m study.Metric, part string) {
	n := 0
	for _, v := range r.Verdicts {
		if v.Primary {
			n = max(n, v.N)
		}
	}
	if n == 0 { // nothing to compare with
		n = len(r.Values(part, r.Control, m.Name))
	}
	p.Caption(fmt.Sprintf("%s, part %s, %d %s; effects against %s with 95 %% intervals", m.Label, part, n, replicates(m.Name), r.Control))
	p.Line("")
	rows := [][]string{{r.Control, meanOf(r, m, part, r.Control), "control", "", "", "", ""}}
	for _, v := range r.Verdicts {
		if !v.Primary {
			continue
		}
		rows = append(rows, []string{v.Variant, measured(m, v.VariantMean),
			v.Text(), v.Bounds(), effectNS(m, v, func(float64) int { return 0 }),
			show.Optional(v.PHolm, show.P), p.verdict(v.Verdict)})
	}
	for _, u := range r.Unavailable {
		rows = append(rows, []string{u.Variant, "–", "", "", "", "", p.verdict("unavailable")})
	}
	p.table([]string{"variant", m.Label, "effect", "95 % interval", nsHeader(m), pHeader(r, m.Name, part), "verdict"},
		[]bool{false, true, true, true, true, true, false}, rows)
	p.Line("")
	for _, l := range lackings(r) {
		p.Paragraph("  ", "    ", fmt.Sprintf("%s %s unavailable: %s", l.Variants, l.Are, l.Reason))
	}
	if len(r.Unavailable) > 0 {
		p.Line("")
	}
}

// replicates are what the kind that measures a metric calls its blocks.
func replicates(metric string) string {
	m, _ := study.MetricNamed(metric)
	for _, k := range study.Kinds() {
		if slices.Contains(k.Modes(), m.Mode) {
			return k.Replicates()
		}
	}
	return study.Base{}.Replicates()
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
func effectNS(m study.Metric, v study.Verdict, decimals func(float64) int) string {
	if m.NS == study.NoNS {
		return ""
	}
	return show.Optional(v.EffectNS, effectTime(m, decimals))
}

// effectTime prints an effect in ns below nsHeader.
func effectTime(m study.Metric, decimals func(float64) int) func(float64) string {
	return func(x float64) string {
		if m.NS == study.IsTime {
			return study.ByTime(m, x)
		}
		return show.Signed(x, decimals(x))
	}
}

// otherParts shows the means of all parts but the primary metric's, with a
// mark where the verdict is not equivalent: parts in a row that have the same
// columns in one table.
func (p *page) otherParts(r study.Results, primaryPart string) {
	var group []string
	flush := func() {
		if len(group) > 0 {
			p.partsTable(r, group)
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
func (p *page) partsTable(r study.Results, group []string) {
	title, header, right := "part "+group[0], []string{"variant"}, []bool{false}
	if len(group) > 1 {
		title, header, right = "the other parts", []string{"part", "variant"}, []bool{false, false}
	}
	for _, head := range headOf(r, group[0]) {
		header, right = append(header, head), append(right, true)
	}
	var rows [][]string
	for _, part := range group {
		for i, arm := range slices.DeleteFunc(r.Arms(part), func(arm string) bool { return arm == study.AA }) {
			var row []string
			if len(group) > 1 {
				row = []string{part}
				if i > 0 {
					row[0] = ""
				}
			}
			row = append(row, arm)
			for _, m := range columnsOf(r, part) {
				row = append(row, cell(r, part, arm, m))
			}
			rows = append(rows, row)
		}
	}
	p.Caption(title + ", means; > and < mark verdicts: better, worse")
	p.Line("")
	p.table(header, right, rows)
	p.Line("")
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

// limits says what stands beside every result: the A/A arm, the noise floor,
// what could have been seen, and what the testbed is not.
func (p *page) limits(r study.Results) {
	aa := fmt.Sprintf("A/A: %s against itself %s: %s.", r.Control, r.AA.TextWithBounds(), r.AA.Verdict)
	if r.Floor() == show.Unknown {
		aa += fmt.Sprintf(" Too few %s for a noise floor, m", replicates(r.AA.Metric))
	} else {
		aa += fmt.Sprintf(" Noise floor %s, m", r.Floor())
	}
	aa += fmt.Sprintf("inimum detectable effect %s (power 0.8).", r.Detectable())
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
