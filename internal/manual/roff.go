// Package manual writes manual pages of a command's verbs from what their help says: man(7),
// in ASCII.
package manual

import (
	"fmt"
	"strings"

	"linerate/internal/list"
	"linerate/internal/prose"
)

// width is how wide a line of the pages' source may be.
const width = 76

// roff collects a page's source.
type roff struct{ b strings.Builder }

// macro adds a request with its arguments, quoted.
func (r *roff) macro(name string, args ...string) {
	r.b.WriteString("." + name)
	for _, a := range args {
		r.b.WriteString(` "` + strings.ReplaceAll(escape(a), `"`, `""`) + `"`)
	}
	r.b.WriteByte('\n')
}

// text adds running text with Inline's marks, broken into lines that nroff joins.
func (r *roff) text(marked string) {
	words := list.Map(prose.Inline(marked), styled)
	r.lines(strings.Join(words, ""))
}

// lines breaks escaped text into lines.
func (r *roff) lines(text string) {
	line := ""
	put := func() {
		if line != "" {
			r.b.WriteString(guard(line) + "\n")
		}
		line = ""
	}
	for _, w := range strings.Fields(text) {
		if line != "" && len(line)+1+len(w) > width {
			put()
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	put()
}

// code adds lines as they are, set in; fresh when nothing stands since a heading.
func (r *roff) code(lines []string, fresh bool) {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return
	}
	if !fresh {
		r.macro("PP")
	}
	r.b.WriteString(".RS 4\n.nf\n")
	for _, l := range lines {
		l = strings.TrimRight(strings.ReplaceAll(l, "\t", "    "), " ")
		if l == "" {
			l = "\\&"
		} else {
			l = guard(escape(l))
		}
		r.b.WriteString(l + "\n")
	}
	r.b.WriteString(".fi\n.RE\n")
}

// guard keeps a line of text from being a request.
func guard(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// styled is a span as roff has it: code and strong are bold, links keep their words.
func styled(s prose.Span) string {
	t := escape(s.Text)
	switch {
	case s.Code, s.Strong:
		return `\fB` + t + `\fR`
	case s.Emph:
		return `\fI` + t + `\fR`
	}
	return t
}

// escape writes text so that roff prints it as it is, in ASCII.
func escape(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case c == '\'':
			b.WriteString(`\(aq`)
		case c == '`':
			b.WriteString(`\(ga`)
		case c == '^':
			b.WriteString(`\(ha`)
		case c == '~':
			b.WriteString(`\(ti`)
		case c == '\t':
			b.WriteByte(' ')
		case c < ' ' && c != '\n' || c == 0x7f:
		case c > 0x7e:
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// blocks renders what help says of a command.
func (r *roff) blocks(blocks []prose.Block) {
	fresh := true // nothing stands since the last heading
	for _, b := range blocks {
		switch b.Kind {
		case prose.Item:
			r.b.WriteString(".IP " + `\(bu` + " 4\n")
			r.text(b.Text)
		case prose.Code:
			r.code(b.Lines, fresh)
		case prose.Paragraph:
			if !fresh {
				r.macro("PP")
			}
			r.text(b.Text)
		default:
			continue
		}
		fresh = false
	}
}
