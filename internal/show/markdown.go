package show

import "linerate/internal/prose"

// Markdown adds a page written in the part of Markdown that linerate's own pages
// use. Marks within a line stay off; links keep their words.
func (p *Page) Markdown(text string) {
	for _, b := range prose.Parse(text) {
		switch b.Kind {
		case prose.Blank:
			p.Line("")
		case prose.Heading:
			p.Line(p.Bold(prose.Plain(b.Text)))
		case prose.Paragraph:
			p.Paragraph("", "", prose.Plain(b.Text))
		case prose.Item:
			first := "- "
			if b.Number != "" {
				first = b.Number + ". "
			}
			p.Paragraph("", "  ", first+prose.Plain(b.Text))
		case prose.Code:
			for _, l := range b.Lines {
				if l != "" {
					l = "    " + l
				}
				p.Line(l)
			}
		case prose.Table:
			p.markdownTable(b)
		}
	}
}

// markdownTable adds a table as pairs of a name and what it means where it has two
// columns, else as one.
func (p *Page) markdownTable(b prose.Block) {
	t := Table{Header: plainCells(b.Header)}
	for _, row := range b.Rows {
		t.Add(plainCells(row)...)
	}
	inner := p.Style
	inner.Width, inner.Fold = p.Columns()-2, true
	if fits := t.fold(inner); fits.total() <= inner.Width {
		for _, l := range t.Lines(inner) {
			p.Line("  " + l)
		}
		return
	}
	for _, row := range t.Rows { // names above what they mean
		p.Line("  " + p.Bold(row[0]))
		for k, cell := range row[1:] {
			if k+1 < len(t.Header) && len(row) > 2 && t.Header[k+1] != "" {
				cell = t.Header[k+1] + ": " + cell
			}
			if cell != "" {
				p.Paragraph("    ", "    ", cell)
			}
		}
	}
}

// plainCells are a row's cells without marks; nil stays nil.
func plainCells(cells []string) []string {
	if cells == nil {
		return nil
	}
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = prose.Plain(c)
	}
	return out
}
