package document

import (
	"io"
	"strings"

	"linerate/internal/show"
)

// Terminal writes the document as text.
func (d Document) Terminal(w io.Writer, style show.Style) error {
	p := show.NewPage(style)
	for _, l := range show.Wrap(d.Title, p.Columns()) {
		p.Line(p.Bold(l))
	}
	for _, a := range d.Answers {
		p.Line("")
		p.Paragraph("  ", "  ", a.Lead+a.Text+a.Strong)
	}
	p.Line("")
	Print(p, d.Blocks...)
	return p.Flush(w)
}

// Print adds blocks to a page of text.
func Print(p *show.Page, blocks ...Block) {
	for _, block := range blocks {
		switch b := block.(type) {
		case Heading:
			p.Caption(string(b))
			p.Line("")
		case Text:
			p.Paragraph("  ", "  ", string(b))
		case Note:
			p.Paragraph("  ", "    ", string(b))
		case Warning:
			p.Paragraph("  ", "    ", p.Paint(show.Doubt, string(b)))
		case Code:
			for _, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
				p.Line("    " + l)
			}
		case Tiles:
			for _, t := range b {
				p.Paragraph("  ", "    ", p.Bold(t.Value)+" "+t.Label)
			}
		case Table:
			printTable(p, b)
		case OnTerminal:
			b(p)
		}
	}
}

// printTable prints a table with rows below its title, and a blank line.
func printTable(p *show.Page, t Table) {
	if len(t.Rows) == 0 {
		return
	}
	if t.Title != "" {
		p.Caption(t.Title)
		p.Line("")
	}
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		for _, cell := range row {
			rows[i] = append(rows[i], p.Paint(verdicts[cell], cell))
		}
	}
	p.Table(show.Table{Header: t.Header, Right: t.Numbers(), Rows: rows})
	p.Line("")
}
