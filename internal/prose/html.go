package prose

import (
	"html"
	"strconv"
	"strings"
)

// HTML renders blocks. link rewrites where links and pictures lead; nil leaves them.
func HTML(blocks []Block, link func(string) string) string {
	h := htmlWriter{link: link}
	for _, b := range blocks {
		h.block(b)
	}
	h.list("")
	return h.b.String()
}

type htmlWriter struct {
	b    strings.Builder
	link func(string) string
	open string // the kind of list that is open
}

// list closes the open list, and opens one of another kind.
func (h *htmlWriter) list(kind string) {
	if h.open == kind {
		return
	}
	if h.open != "" {
		h.b.WriteString("</" + h.open + ">\n")
	}
	if h.open = kind; kind != "" {
		h.b.WriteString("<" + kind + ">\n")
	}
}

func (h *htmlWriter) block(b Block) {
	if b.Kind == Blank {
		return
	}
	if b.Kind != Item {
		h.list("")
	}
	switch b.Kind {
	case Paragraph:
		h.b.WriteString("<p>" + h.inline(b.Text) + "</p>\n")
	case Heading:
		n := strconv.Itoa(min(b.Level, 6))
		h.b.WriteString("<h" + n + ` id="` + Anchor(b.Text) + `">` + h.inline(b.Text) + "</h" + n + ">\n")
	case Item:
		kind := "ul"
		if b.Number != "" {
			kind = "ol"
		}
		h.list(kind)
		h.b.WriteString("<li>" + h.inline(b.Text) + "</li>\n")
	case Code:
		h.b.WriteString("<pre><code>" + html.EscapeString(strings.Join(b.Lines, "\n")) + "\n</code></pre>\n")
	case Table:
		h.table(b)
	}
}

func (h *htmlWriter) table(b Block) {
	h.b.WriteString("<div class=\"wide\"><table>\n")
	row := func(cells []string, tag string) {
		h.b.WriteString("<tr>")
		for _, c := range cells {
			h.b.WriteString("<" + tag + ">" + h.inline(c) + "</" + tag + ">")
		}
		h.b.WriteString("</tr>\n")
	}
	if b.Header != nil {
		row(b.Header, "th")
	}
	for _, r := range b.Rows {
		row(r, "td")
	}
	h.b.WriteString("</table></div>\n")
}

func (h *htmlWriter) inline(text string) string {
	var b strings.Builder
	for _, s := range Inline(text) {
		t, to := html.EscapeString(s.Text), s.Link
		if to != "" && h.link != nil {
			to = h.link(to)
		}
		switch {
		case s.Image:
			b.WriteString(`<img alt="` + t + `" src="` + html.EscapeString(to) + `">`)
			continue
		case s.Code:
			t = "<code>" + t + "</code>"
		case s.Strong:
			t = "<strong>" + t + "</strong>"
		case s.Emph:
			t = "<em>" + t + "</em>"
		}
		if to != "" && safe(to) {
			t = `<a href="` + html.EscapeString(to) + `">` + t + "</a>"
		}
		b.WriteString(t)
	}
	return b.String()
}

// safe links lead to pages, never to scripts.
func safe(to string) bool {
	scheme, _, has := strings.Cut(to, ":")
	return !has || strings.ContainsAny(scheme, "/#?") || scheme == "http" || scheme == "https" || scheme == "mailto"
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
