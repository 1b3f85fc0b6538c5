package show

import (
	"strconv"
	"strings"

	"github.com/russross/blackfriday/v2"
)

// Markdown adds a page of the documentation. It drops inline markup, and keeps the text of links.
func (p *Page) Markdown(text string) {
	page := blackfriday.New(blackfriday.WithExtensions(blackfriday.NoIntraEmphasis | blackfriday.Tables | blackfriday.FencedCode | blackfriday.SpaceHeadings)).Parse([]byte(text))
	for n := page.FirstChild; n != nil; n = n.Next {
		if n.Type == blackfriday.HTMLBlock {
			continue // a comment
		}
		p.markdown(n)
		if n.Next != nil {
			p.Line("")
		}
	}
}

func (p *Page) markdown(n *blackfriday.Node) {
	switch n.Type {
	case blackfriday.Heading:
		p.Line(p.Bold(plainText(n)))
	case blackfriday.Paragraph:
		p.Paragraph("", "", plainText(n))
	case blackfriday.List:
		number := 0
		for item := n.FirstChild; item != nil; item = item.Next {
			first := "- "
			if number++; n.ListFlags&blackfriday.ListTypeOrdered != 0 {
				first = strconv.Itoa(number) + ". "
			}
			for c := item.FirstChild; c != nil; c = c.Next {
				if c.Type != blackfriday.Paragraph {
					p.markdown(c)
					continue
				}
				p.Paragraph("", "  ", first+plainText(c))
				first = "  "
			}
		}
	case blackfriday.CodeBlock:
		for l := range strings.Lines(string(n.Literal)) {
			p.Line(strings.TrimRight("    "+l, " \n"))
		}
	case blackfriday.Table:
		p.markdownTable(n)
	}
}

// markdownTable adds a table: with two columns as pairs of a name and its meaning, else as a table.
func (p *Page) markdownTable(n *blackfriday.Node) {
	var t Table
	n.Walk(func(row *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		if row.Type != blackfriday.TableRow || !entering {
			return blackfriday.GoToNext
		}
		var cells []string
		for c := row.FirstChild; c != nil; c = c.Next {
			cells = append(cells, plainText(c))
		}
		switch {
		case row.Parent.Type != blackfriday.TableHead:
			t.Rows = append(t.Rows, cells)
		case strings.Join(cells, "") != "":
			t.Header = cells
		}
		return blackfriday.SkipChildren
	})
	inner := p.Style
	inner.Width, inner.Fold = p.Columns()-2, true
	if fits := t.fold(inner); fits.total() <= inner.Width {
		for _, l := range t.Lines(inner) {
			p.Line("  " + l)
		}
		return
	}
	for _, row := range t.Rows { // names above their meaning
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

// plainText returns a block's text without markup.
func plainText(n *blackfriday.Node) string {
	var b strings.Builder
	n.Walk(func(c *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		if entering && (c.Type == blackfriday.Text || c.Type == blackfriday.Code) {
			b.Write(c.Literal)
		}
		return blackfriday.GoToNext
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
