package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// Style is how a terminal report looks. The zero value is plain.
type Style struct {
	Colour bool
	Width  int // columns; 0: 80
}

// Terminal writes the report for people: the question, one sentence of
// answer, tables, a dot plot, and what limits the result.
func Terminal(w io.Writer, r study.Results, st Style) error {
	if st.Width <= 0 {
		st.Width = 80
	}
	p := &page{st: st}
	p.line(p.bold(r.Question))
	p.line("")
	for _, l := range wrap(r.Answer, st.Width-2) {
		p.line("  " + l)
	}
	metric, part := primary(r)
	p.line("")
	p.primaryTable(r, metric, part)
	p.dotPlots(r, metric, part)
	p.otherParts(r, part)
	p.limits(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// page collects lines.
type page struct {
	b  strings.Builder
	st Style
}

func (p *page) line(s string) { p.b.WriteString(strings.TrimRight(s, " ") + "\n") }

func (p *page) paint(code, s string) string {
	if !p.st.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *page) bold(s string) string { return p.paint("1", s) }
func (p *page) dim(s string) string  { return p.paint("2", s) }

// verdict paints a verdict by what it means.
func (p *page) verdict(verdict stats.Verdict) string {
	v := string(verdict)
	switch verdict {
	case stats.Better:
		return p.paint("32", v)
	case stats.Worse:
		return p.paint("31", v)
	case stats.Invalid, stats.Inconclusive:
		return p.paint("33", v)
	}
	return v
}

// table lays out rows under a header; numeric columns are set right.
func (p *page) table(header []string, right []bool, rows [][]string) {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	show := func(row []string, paint func(string) string) {
		var b strings.Builder
		b.WriteString("  ")
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-width(cell))
			if right[i] {
				b.WriteString(pad + paint(cell))
			} else {
				b.WriteString(paint(cell) + pad)
			}
			b.WriteString("  ")
		}
		p.line(b.String())
	}
	show(header, p.dim)
	for _, row := range rows {
		show(row, func(s string) string { return s })
	}
}

func (p *page) primaryTable(r study.Results, m study.Metric, part string) {
	n := 0
	for _, v := range r.Verdicts {
		if v.Primary {
			n = max(n, v.N)
		}
	}
	p.line("  " + p.dim(fmt.Sprintf("%s, part %s, %d blocks; effects against %s with 95 %% intervals", m.Label, part, n, r.Control)))
	p.line("")
	rows := [][]string{{r.Control, meanOf(r, m, part, r.Control), "control", "", "", "", ""}}
	for _, v := range r.Verdicts {
		if !v.Primary {
			continue
		}
		rows = append(rows, []string{v.Variant, optional(v.VariantMean, func(x float64) string { return value(m, x) }),
			optional(v.EffectPercent, percent), interval(v.Effect), optional(v.EffectNS, func(x float64) string { return study.Signed(x, 0) }),
			pValue(v.PHolm), p.verdict(v.Verdict)})
	}
	for _, u := range r.Unavailable {
		rows = append(rows, []string{u.Variant, "–", "", "", "", "", p.verdict("unavailable")})
	}
	p.table([]string{"variant", m.Label, "effect", "95 % interval", nsHeader(m), "p (Holm)", "verdict"},
		[]bool{false, true, true, true, true, true, false}, rows)
	p.line("")
	for _, u := range r.Unavailable {
		p.line(fmt.Sprintf("  %s is unavailable: %s", u.Variant, u.Reason))
	}
}

func nsHeader(m study.Metric) string {
	switch {
	case m.NS == study.NoNS:
		return ""
	case m.Unit == "ns":
		return "ns"
	}
	return "ns/packet"
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
			if len(values(r, part, r.Control, m.Name)) > 0 {
				metrics = append(metrics, m)
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
		p.line("  " + p.dim(fmt.Sprintf("part %s, means; > and < mark verdicts: better, worse", part)))
		p.line("")
		p.table(header, right, rows)
		p.line("")
	}
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

// limits says what stands beside every result: the A/A arm, the noise floor,
// what could have been seen, and what the testbed is not.
func (p *page) limits(r study.Results) {
	aa := fmt.Sprintf("A/A: %s against itself %s %s: %s.", r.Control, optional(r.AA.EffectPercent, percent), interval(r.AA.Effect), r.AA.Verdict)
	aa += fmt.Sprintf(" Noise floor %s, minimum detectable effect %s (power 0.8).", optional(r.NoiseFloor, unsigned), optional(r.MDE, unsigned))
	text := []string{aa}
	if r.Environment.Label != "" {
		text = append(text, fmt.Sprintf("Measured on %s (%s, %s): percents do not carry over to other machines, nanoseconds do better.",
			r.Environment.Label, r.Environment.Kernel, r.Environment.CPU))
	}
	text = append(text, r.Warnings...)
	for _, t := range text {
		for i, l := range wrap(t, p.st.Width-4) {
			if i == 0 {
				p.line("  " + l)
			} else {
				p.line("    " + l)
			}
		}
	}
}

// unsigned prints a percentage that has no direction.
func unsigned(v float64) string {
	if v > 99_999 { // of very few, very unlike blocks
		return "> 99,999 %"
	}
	return digits(v) + " %"
}

// wrap breaks text into lines of at most width columns.
func wrap(text string, limit int) []string {
	var lines []string
	line := ""
	// A number stays with its unit.
	text = strings.NewReplacer(" %", "\u00a0%", " ns", "\u00a0ns", "± ", "±").Replace(text)
	for word := range strings.SplitSeq(text, " ") {
		word = strings.ReplaceAll(word, "\u00a0", " ")
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) > limit:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// width of a string in columns; escape sequences have none.
func width(s string) int {
	n := utf8.RuneCountInString(s)
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return n
		}
		end := strings.IndexByte(s[i:], 'm')
		if end < 0 {
			return n
		}
		n -= end + 1
		s = s[i+end+1:]
	}
}
