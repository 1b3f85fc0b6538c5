package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Terminal writes the report for people: the question, one sentence of
// answer, tables, a dot plot, and what limits the result.
func Terminal(w io.Writer, r study.Results, st show.Style) error {
	p := &page{show.NewPage(st)}
	p.Line(p.Bold(r.Question))
	p.Line("")
	p.Paragraph("  ", "  ", r.Answer)
	metric, part := primary(r)
	p.Line("")
	p.primaryTable(r, metric, part)
	if len(curveGroups(r)) == 0 {
		p.dotPlots(r, metric, part)
	}
	p.curvePlots(r)
	p.lossRows(r, part)
	p.wireTable(r)
	p.spreadRows(r)
	p.otherParts(r, part)
	p.dropRows(r)
	p.statesRows(r)
	p.managementRows(r)
	p.insideRows(r)
	p.limits(r)
	return p.Flush(w)
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
	p.Line("  " + p.Dim(fmt.Sprintf("%s, part %s, %d blocks; effects against %s with 95 %% intervals", m.Label, part, n, r.Control)))
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
	p.table([]string{"variant", m.Label, "effect", "95 % interval", nsHeader(m), "p (Holm)", "verdict"},
		[]bool{false, true, true, true, true, true, false}, rows)
	p.Line("")
	for _, u := range r.Unavailable {
		p.Paragraph("  ", "    ", fmt.Sprintf("%s is unavailable: %s", u.Variant, u.Reason))
	}
	if len(r.Unavailable) > 0 {
		p.Line("")
	}
}

func nsHeader(m study.Metric) string {
	switch {
	case m.NS == study.NoNS:
		return ""
	case m.Mode == testbed.Serve:
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
		if m.Mode == testbed.Serve {
			return study.ByTime(m, x)
		}
		return show.Signed(x, decimals(x))
	}
}

// otherParts shows each other part as one table of means, with a mark where
// the verdict is not equivalent.
func (p *page) otherParts(r study.Results, primaryPart string) {
	for _, part := range parts(r) {
		if part == primaryPart {
			continue
		}
		var metrics []study.Metric
		for _, m := range study.Metrics {
			// Of requests there are many: those that were asked about.
			if len(values(r, part, r.Control, m.Name)) > 0 && (m.Mode != testbed.Serve || judged(r, part, m.Name)) {
				metrics = append(metrics, m.In(r.Kind()))
			}
		}
		if len(metrics) == 0 {
			continue
		}
		header, right := []string{"variant"}, []bool{false}
		for _, m := range metrics {
			header, right = append(header, short(m)), append(right, true)
		}
		var rows [][]string
		for _, arm := range arms(r, part) {
			if arm == study.AA {
				continue
			}
			row := []string{arm}
			for _, m := range metrics {
				row = append(row, cell(r, part, arm, m))
			}
			rows = append(rows, row)
		}
		p.Line("  " + p.Dim(fmt.Sprintf("part %s, means; > and < mark verdicts: better, worse", part)))
		p.Line("")
		p.table(header, right, rows)
		p.Line("")
	}
}

// judged reports whether a metric of a part has a verdict.
func judged(r study.Results, part, metric string) bool {
	return slices.ContainsFunc(r.Verdicts, func(v study.Verdict) bool { return v.Part == part && v.Metric == metric })
}

// cell is a mean with its verdict's mark.
func cell(r study.Results, part, arm string, m study.Metric) string {
	x := values(r, part, arm, m.Name)
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
	return value(m, mean(x)) + " " + mark
}

// short heads a narrow column.
func short(m study.Metric) string {
	switch m.Name {
	case study.OverloadRate:
		return "forwarded"
	case study.OfferedRate:
		return "offered"
	case study.LatencyP50:
		return "latency p50"
	case study.LatencyP99:
		return "latency p99"
	}
	return m.Label
}

// measuredOn names a testbed and what is known of its machine.
func measuredOn(e study.Environment) string {
	known := slices.DeleteFunc([]string{e.Kernel, e.CPU}, func(s string) bool { return s == "" })
	if len(known) == 0 {
		return e.Label
	}
	return fmt.Sprintf("%s (%s)", e.Label, strings.Join(known, ", "))
}

// limits says what stands beside every result: the A/A arm, the noise floor,
// what could have been seen, and what the testbed is not.
func (p *page) limits(r study.Results) {
	aa := fmt.Sprintf("A/A: %s against itself %s %s: %s.", r.Control, r.AA.Text(), r.AA.Bounds(), r.AA.Verdict)
	aa += fmt.Sprintf(" Noise floor %s, minimum detectable effect %s (power 0.8).", r.Floor(), r.Detectable())
	text := []string{aa}
	if r.Environment.Label != "" {
		text = append(text, fmt.Sprintf("Measured on %s: %s.", measuredOn(r.Environment), carriesOver(r.Environment)))
	}
	text = append(text, r.Warnings...)
	for _, t := range text {
		p.Paragraph("  ", "    ", t)
	}
}
