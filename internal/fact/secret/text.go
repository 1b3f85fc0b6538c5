package secret

import (
	"regexp"
	"strings"
)

// Text is Line over a text. What goes over several lines is dropped as a
// whole: blocks of PEM, what a script writes to a file of secrets, values that
// a backslash, a quote or YAML's indentation carries on. It returns the numbers
// of the lines that held secrets.
func Text(s string) (string, []int) {
	var out strings.Builder
	var hit []int
	r := reader{deep: -1}
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		clean, found := r.read(line)
		if found {
			hit = append(hit, i+1)
		}
		out.WriteString(clean)
	}
	return out.String(), hit
}

// margin is what a line of YAML begins with.
var margin = regexp.MustCompile(`^[ \t]*(- )?`)

// maxQuoted bounds the lines that a quote without its other end takes.
const maxQuoted = 16

// reader is what lines before this one leave open.
type reader struct {
	until *regexp.Regexp // ends a block, in lower case; nil outside
	tag   string         // is the line that ends what a script writes
	goes  bool           // the last line ended with a backslash, in a secret
	quote string         // is the value's open quote, for left lines more
	left  int
	deep  int // lines deeper than this are of a secret; -1 for none
}

func (r *reader) read(line string) (string, bool) {
	line, end := strings.CutSuffix(line, "\r")
	clean, found := r.line(line)
	if end {
		clean += "\r"
	}
	return clean, found
}

func (r *reader) line(line string) (string, bool) {
	low := lower(line)
	if r.inside(line, low) || r.begins(low) {
		if r.deep >= 0 {
			return margin.FindString(line) + Mark, true // the text's depth is YAML's
		}
		return Mark, true
	}
	clean, found := Line(line)
	if strings.Contains(low, "<<") && heredocRE.MatchString(low) {
		r.tag = endOf(line)
	}
	r.goesOn(line, low, clean, found)
	return clean, found
}

// inside reports a line of a secret that began before.
func (r *reader) inside(line, low string) bool {
	switch {
	case r.until != nil:
		if r.until.MatchString(low) {
			r.until = nil
		}
		return true
	case r.tag != "":
		if strings.Trim(line, " \t#") == r.tag {
			r.tag = ""
			return false
		}
		return true
	case r.goes:
		r.goes = strings.HasSuffix(line, `\`)
		return true
	case r.quote != "":
		if r.left--; strings.Contains(line, r.quote) || r.left == 0 {
			r.quote = ""
		}
		return true
	case r.deep >= 0:
		text := strings.TrimLeft(line, " \t")
		if depth := len(line) - len(text); text == "" || depth > r.deep || depth == r.deep && strings.HasPrefix(text, "- ") {
			return text != ""
		}
		r.deep = -1
	}
	return false
}

// begins reports the first line of a block.
func (r *reader) begins(low string) bool {
	switch {
	case strings.Contains(low, "begin ") && pemRE.MatchString(low):
		if !pemEndRE.MatchString(low) {
			r.until = pemEndRE
		}
		return true
	case inlineRE.MatchString(low):
		if !inlineEndRE.MatchString(low) {
			r.until = inlineEndRE
		}
		return true
	}
	return false
}

// goesOn finds what the next lines hold of a secret.
func (r *reader) goesOn(line, low, clean string, found bool) {
	low, goes := strings.CutSuffix(low, `\`)
	low = strings.TrimRight(low, " \t")
	marked := found && strings.HasSuffix(strings.TrimRight(clean, `"'`), Mark)
	if !marked && !suspicious(low) {
		return
	}
	at := unsaidRE.FindStringIndex(low)
	if at != nil && harmlessRE.MatchString(low[at[0]:at[1]]) {
		at = nil
	}
	switch {
	case goes:
		r.goes = marked && !strings.HasSuffix(low, ":") || at != nil || askedRE.MatchString(low)
	case at != nil:
		r.deep = len(line) - len(strings.TrimLeft(line, " \t"))
	case marked:
		q := clean[len(clean)-1:]
		if (q == `"` || q == "'") && !strings.HasSuffix(low, q) && !strings.HasPrefix(strings.TrimLeft(low, " \t"), "#") {
			r.quote, r.left = q, maxQuoted
		}
	}
}

// here is a here-document's operator and its last word; a number behind it is
// shifted by.
var here = regexp.MustCompile(`<<-?[ \t]*["'\\]?[A-Za-z_][A-Za-z0-9_]*`)

// endOf is the line that ends the here-document of a line, "" for none.
func endOf(line string) string {
	if strings.Contains(line, "<<<") {
		return ""
	}
	op := here.FindString(line)
	return strings.TrimLeft(op, "<- \t\"'\\")
}
