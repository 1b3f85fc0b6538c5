package show

import "strings"

// Markdown adds a page written in the part of Markdown that linerate's own pages
// use: headings, paragraphs, lists, code set in by four columns or fenced, and
// tables. Marks within a line stay as they are, but for those of links.
func (p *Page) Markdown(text string) {
	var para, table []string
	flush := func() {
		p.markdownText(strings.Join(para, " "))
		p.markdownTable(table)
		para, table = nil, nil
	}
	fenced := false
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			flush()
			fenced = !fenced
		case fenced:
			p.Line("    " + line)
		case strings.HasPrefix(line, "    ") && len(para) == 0:
			flush()
			p.Line(line)
		case strings.HasPrefix(trimmed, "|"):
			table = append(table, trimmed)
		case trimmed == "":
			flush()
			p.Line("")
		case strings.HasPrefix(line, "#"):
			flush()
			p.Line(p.Bold(plain(strings.TrimLeft(line, "# "))))
		case strings.HasPrefix(trimmed, "- "):
			flush()
			para = []string{trimmed}
		default:
			para = append(para, trimmed)
		}
	}
	flush()
}

func (p *Page) markdownText(text string) {
	rest := ""
	if strings.HasPrefix(text, "- ") {
		rest = "  "
	}
	if text != "" {
		p.Paragraph("", rest, plain(text))
	}
}

// markdownTable adds a table as pairs of a name and what it means where it has two
// columns, else as one.
func (p *Page) markdownTable(lines []string) {
	var t Table
	for i, line := range lines {
		cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|")
		for k, cell := range cells {
			cells[k] = plain(strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
		}
		switch {
		case i == 0 && strings.Join(cells, "") != "":
			t.Header = cells
		case i == 1 && strings.Trim(strings.Join(cells, ""), "-: ") == "":
		case i > 0:
			t.Add(cells...)
		}
	}
	if len(t.Rows) == 0 {
		return
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

// plain takes the marks of code, emphasis and links off a text.
func plain(text string) string {
	text = strings.NewReplacer("`", "", "**", "").Replace(text)
	for {
		from := strings.Index(text, "](")
		if from < 0 {
			return text
		}
		open, end := strings.LastIndex(text[:from], "["), strings.Index(text[from:], ")")
		if open < 0 || end < 0 {
			return text
		}
		text = text[:open] + text[open+1:from] + text[from+end+1:]
	}
}
