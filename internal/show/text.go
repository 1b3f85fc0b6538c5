package show

import (
	"io"
	"regexp"
	"slices"
	"strings"
)

// Wrap breaks a text into lines of at most limit columns, at white space. It keeps a number with
// its unit and ± with its number; a word wider than the limit gets its own line.
func Wrap(text string, limit int) []string {
	text = NoBreak(text)
	var lines []string
	line := ""
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }) {
		word = strings.ReplaceAll(word, "\u00a0", " ")
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) > limit:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// unit matches a number with its unit.
var unit = regexp.MustCompile(`(\d) (%|(?:[µmn]?s|[kMGT]?pps|[kMGT]?b/s|[KMGT]i?B|points?|pt|CPUs?)\b)`)

var glue = strings.NewReplacer("± ", "±\u00a0", "→ ", "→\u00a0")

// NoBreak joins numbers and units with no-break spaces.
func NoBreak(text string) string { return glue.Replace(unit.ReplaceAllString(text, "$1\u00a0$2")) }

// Page collects lines in a style; Flush writes them.
type Page struct {
	Style
	b strings.Builder
}

// NewPage returns an empty page.
func NewPage(s Style) *Page { return &Page{Style: s} }

// Caption adds a dimmed line above a table or picture, indented by two columns and wrapped to the
// page's width.
func (p *Page) Caption(text string) {
	for _, l := range Wrap(text, max(20, p.Columns()-4)) {
		p.Line("  " + p.Dim(l))
	}
}

// Line adds a line without trailing blanks.
func (p *Page) Line(text string) { p.b.WriteString(strings.TrimRight(text, " ") + "\n") }

// Lines adds lines.
func (p *Page) Lines(lines []string) {
	for _, l := range lines {
		p.Line(l)
	}
}

// Paragraph adds a text wrapped to the page's width, with the prefix first on its first line and
// rest on the others.
func (p *Page) Paragraph(first, rest, text string) {
	room := max(20, p.Columns()-max(Width(first), Width(rest)))
	for i, l := range Wrap(text, room) {
		if i == 0 {
			p.Line(first + l)
		} else {
			p.Line(rest + l)
		}
	}
}

// Table adds a table, indented by two columns.
func (p *Page) Table(t Table) { p.Indented(t, 2) }

// Indented adds a table, indented by the given number of columns.
func (p *Page) Indented(t Table, by int) {
	inner := p.Style
	inner.Width = p.Columns() - by
	for _, l := range t.Lines(inner) {
		p.Line(strings.Repeat(" ", by) + l)
	}
}

// String returns the page so far.
func (p *Page) String() string { return p.b.String() }

// Flush writes the page.
func (p *Page) Flush(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	p.b.Reset()
	return err
}

// Table has rows under a header, in columns separated by two blanks.
type Table struct {
	Header []string // may be empty
	Right  []bool   // right-aligned columns, for numbers; may be short
	Rows   [][]string
}

// NumbersAfter returns Table.Right for a table with numbers in all but the first n columns.
func NumbersAfter(n int) []bool {
	right := slices.Repeat([]bool{true}, 12)
	clear(right[:n])
	return right
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Lines returns the table's lines. Cells may contain colours. If the table is too wide and the
// style folds, the text of its last column is wrapped; if it is still too wide, it is split into
// bands of columns below each other, each starting with the first column.
func (t Table) Lines(s Style) []string {
	var out []string
	for i, band := range t.fold(s).bands(s) {
		if i > 0 {
			out = append(out, "")
		}
		band = band.fold(s)
		widths := band.widths()
		if len(band.Header) > 0 {
			out = append(out, band.row(band.Header, widths, s.Dim))
		}
		for _, row := range band.Rows {
			out = append(out, band.row(row, widths, func(cell string) string { return cell }))
		}
	}
	return out
}

// bands splits the table's columns into groups that fit, if the style folds.
func (t Table) bands(s Style) []Table {
	widths := t.widths()
	if !s.Fold || t.total() <= s.Columns() || len(widths) < 3 {
		return []Table{t}
	}
	var out []Table
	for from := 1; from < len(widths); {
		to, room := from+1, s.Columns()-widths[0]-2-widths[from]
		for to < len(widths) && widths[to]+2 <= room {
			room -= widths[to] + 2
			to++
		}
		out = append(out, t.columns(from, to))
		from = to
	}
	return out
}

// columns returns the table's first column and those in [from, to).
func (t Table) columns(from, to int) Table {
	pick := func(row []string) []string {
		if len(row) == 0 {
			return nil
		}
		return append([]string{row[0]}, row[min(from, len(row)):min(to, len(row))]...)
	}
	out := Table{Header: pick(t.Header), Right: []bool{len(t.Right) > 0 && t.Right[0]}}
	for i := from; i < to; i++ {
		out.Right = append(out.Right, i < len(t.Right) && t.Right[i])
	}
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, pick(row))
	}
	return out
}

// total returns the width of the table.
func (t Table) total() (n int) {
	for _, w := range t.widths() {
		n += w + 2
	}
	return n - 2
}

// leastFold is the minimum width of a column that is wrapped: in a narrower one every word would
// need a line.
const leastFold = 24

// fold wraps the last column to the width that the others leave: only text without colours, and
// only if they leave enough.
func (t Table) fold(s Style) Table {
	widths := t.widths()
	last := len(widths) - 1
	room := s.Columns()
	for i := range max(0, last) {
		room -= widths[i] + 2
	}
	if !s.Fold || last < 1 || widths[last] <= room || room < leastFold || last < len(t.Right) && t.Right[last] {
		return t
	}
	folded := Table{Header: t.Header, Right: t.Right}
	for _, row := range t.Rows {
		if len(row) <= last || Width(row[last]) <= room || strings.Contains(row[last], "\x1b") {
			folded.Rows = append(folded.Rows, row)
			continue
		}
		for i, line := range Wrap(row[last], room) {
			part := make([]string, len(row))
			if i == 0 {
				copy(part, row)
			}
			part[last] = line
			folded.Rows = append(folded.Rows, part)
		}
	}
	return folded
}

// Write writes the table.
func (t Table) Write(w io.Writer, s Style) error {
	p := NewPage(s)
	p.Lines(t.Lines(s))
	return p.Flush(w)
}

func (t Table) widths() []int {
	var widths []int
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	return widths
}

func (t Table) row(cells []string, widths []int, paint func(string) string) string {
	var b strings.Builder
	for i, cell := range cells {
		fill := strings.Repeat(" ", widths[i]-Width(cell))
		if i < len(t.Right) && t.Right[i] {
			b.WriteString(fill + paint(cell))
		} else {
			b.WriteString(paint(cell) + fill)
		}
		if i < len(cells)-1 {
			b.WriteString("  ")
		}
	}
	return strings.TrimRight(b.String(), " ")
}
