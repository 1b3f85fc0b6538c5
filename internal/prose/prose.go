// Package prose reads the part of Markdown that linerate's own pages are written in:
// headings, paragraphs, lists, code set in by four columns or fenced, tables, and
// within a line code, emphasis and links. Terminals, manual pages and the site each
// render what it reads.
package prose

import "strings"

// Kind is what a block is.
type Kind int

// The kinds of blocks.
const (
	Blank     Kind = iota // a line without anything: where the writer left room
	Paragraph             // running text
	Heading               // of Level 1 and more
	Item                  // of a list; Number is its number, "" for a dash
	Code                  // lines as they are
	Table                 // Rows below a Header, which may be nil
)

// Block is one piece of a page.
type Block struct {
	Kind   Kind
	Level  int    // of a heading; how deep an item is
	Number string // of an item of a numbered list
	Text   string // with the marks of Inline
	Lang   string // of fenced code, as its fence says
	Lines  []string
	Header []string
	Rows   [][]string
}

// reader takes a page apart, line by line.
type reader struct {
	blocks []Block
	para   []string
	item   *Block
	table  []string
	fence  bool
}

// Parse takes a page apart. Every text has blocks; what is no mark is text.
func Parse(text string) []Block {
	var r reader
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		r.line(line)
	}
	r.flush()
	return joinCode(r.blocks)
}

func (r *reader) line(line string) {
	trimmed := strings.TrimSpace(line)
	number, rest, numbered := numberOf(trimmed)
	switch {
	case strings.HasPrefix(trimmed, "```"):
		r.flush()
		if r.fence = !r.fence; r.fence {
			r.blocks = append(r.blocks, Block{Kind: Code, Lang: strings.TrimPrefix(trimmed, "```")})
		}
	case r.fence:
		last := &r.blocks[len(r.blocks)-1]
		last.Lines = append(last.Lines, line)
	case strings.HasPrefix(line, "    ") && (len(r.para) == 0 || r.item == nil && strings.HasSuffix(r.para[len(r.para)-1], ":")):
		r.flush()
		r.blocks = append(r.blocks, Block{Kind: Code, Lines: []string{line[4:]}})
	case strings.HasPrefix(trimmed, "|"):
		r.table = append(r.table, trimmed)
	case strings.HasPrefix(trimmed, "<!--") && strings.HasSuffix(trimmed, "-->"):
	case trimmed == "":
		r.flush()
		r.blocks = append(r.blocks, Block{Kind: Blank})
	case strings.HasPrefix(line, "#"):
		r.flush()
		words := strings.TrimLeft(line, "#")
		r.blocks = append(r.blocks, Block{Kind: Heading, Level: len(line) - len(words), Text: strings.TrimSpace(words)})
	case strings.HasPrefix(trimmed, "- "):
		r.begin(Block{Kind: Item, Level: depth(line)}, strings.TrimSpace(trimmed[2:]))
	case numbered && (len(r.para) == 0 || r.item != nil && r.item.Number != ""):
		r.begin(Block{Kind: Item, Level: depth(line), Number: number}, rest)
	default:
		r.para = append(r.para, trimmed)
	}
}

func (r *reader) begin(item Block, text string) {
	r.flush()
	r.item, r.para = &item, []string{text}
}

// flush ends the paragraph, item or table that was being read.
func (r *reader) flush() {
	if len(r.para) > 0 {
		b := Block{Kind: Paragraph}
		if r.item != nil {
			b = *r.item
		}
		b.Text = strings.Join(r.para, " ")
		r.blocks = append(r.blocks, b)
	}
	if len(r.table) > 0 {
		if t := tableOf(r.table); len(t.Rows) > 0 {
			r.blocks = append(r.blocks, t)
		}
	}
	r.para, r.item, r.table = nil, nil, nil
}

// depth is how far an item of a list is set in, two columns a level.
func depth(line string) int { return (len(line) - len(strings.TrimLeft(line, " "))) / 2 }

// numberOf takes "12. " from the front of a line.
func numberOf(line string) (number, rest string, ok bool) {
	number, rest, ok = strings.Cut(line, ". ")
	return number, strings.TrimSpace(rest), ok && number != "" && len(number) < 3 && strings.Trim(number, "0123456789") == ""
}

// tableOf reads the lines of a table; \| is a bar within a cell.
func tableOf(lines []string) Block {
	t := Block{Kind: Table}
	for i, line := range lines {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|"), "|")
		for k, cell := range cells {
			cells[k] = strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")
		}
		switch {
		case i == 0 && strings.Join(cells, "") != "":
			t.Header = cells
		case i == 1 && strings.Trim(strings.Join(cells, ""), "-: ") == "":
		case i > 0:
			t.Rows = append(t.Rows, cells)
		}
	}
	return t
}

// joinCode makes one block of code of those that only blank lines part, where both
// are set in.
func joinCode(blocks []Block) []Block {
	var out []Block
	for i := 0; i < len(blocks); i++ {
		b := blocks[i]
		if b.Kind != Code || b.Lang != "" || len(out) == 0 {
			out = append(out, b)
			continue
		}
		blank := len(out)
		for blank > 0 && out[blank-1].Kind == Blank {
			blank--
		}
		if blank == 0 || out[blank-1].Kind != Code || out[blank-1].Lang != "" {
			out = append(out, b)
			continue
		}
		last := &out[blank-1]
		last.Lines = append(append(last.Lines, make([]string, len(out)-blank)...), b.Lines...)
		out = out[:blank]
	}
	return out
}

// Span is a piece of a line.
type Span struct {
	Text               string
	Code, Strong, Emph bool
	Link               string // where it leads
	Image              bool   // Link is a picture, Text what it shows
}

// Inline takes the marks of a line apart: `code`, **strong**, *emphasis*,
// [text](link) and ![text](picture). A mark without its end is text.
func Inline(text string) []Span {
	var spans []Span
	plain := 0 // where text without a mark begins
	flush := func(to int) {
		if plain < to {
			spans = append(spans, Span{Text: text[plain:to]})
		}
	}
	for i := 0; i < len(text); {
		s, rest, ok := Span{}, "", false
		if strings.IndexByte("`*[!", text[i]) >= 0 {
			s, rest, ok = mark(text[i:])
		}
		if !ok {
			i++
			continue
		}
		flush(i)
		spans, i = append(spans, s), len(text)-len(rest)
		plain = i
	}
	flush(len(text))
	return spans
}

// mark reads the marked span that text begins with.
func mark(text string) (s Span, rest string, ok bool) {
	switch {
	case strings.HasPrefix(text, "`"):
		inner, rest, ok := strings.Cut(text[1:], "`")
		return Span{Text: inner, Code: true}, rest, ok && inner != ""
	case strings.HasPrefix(text, "**"):
		inner, rest, ok := strings.Cut(text[2:], "**")
		return Span{Text: Plain(inner), Strong: true}, rest, ok && inner != ""
	case strings.HasPrefix(text, "*"):
		inner, rest, ok := strings.Cut(text[1:], "*")
		return Span{Text: Plain(inner), Emph: true}, rest, ok && inner != "" && strings.Trim(inner, " ") == inner
	case strings.HasPrefix(text, "["), strings.HasPrefix(text, "!["):
		image := text[0] == '!'
		from := strings.Index(text, "](")
		if from < 0 {
			return s, text, false
		}
		to := strings.IndexByte(text[from:], ')')
		label := strings.TrimPrefix(strings.TrimPrefix(text[:from], "!"), "[")
		if to < 0 || strings.Contains(label, "[") {
			return s, text, false
		}
		return Span{Text: Plain(label), Link: text[from+2 : from+to], Image: image, Code: label == "`"+Plain(label)+"`"}, text[from+to+1:], true
	}
	return s, text, false
}

// Plain is a line without its marks.
func Plain(text string) string {
	var b strings.Builder
	for _, s := range Inline(text) {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Anchor is the name of a heading within its page, as forges make it: small letters,
// blanks as dashes, no marks.
func Anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(Plain(heading)) {
		switch {
		case r == ' ' || r == '-':
			b.WriteByte('-')
		case r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 0x7f:
			b.WriteRune(r)
		}
	}
	return b.String()
}
