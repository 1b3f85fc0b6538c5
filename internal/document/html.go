package document

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/lazy"
	"linerate/internal/show"
)

//go:embed page.css
var pageCSS string

// PageStyle returns the style sheet of pages, for pages that share a file.
func PageStyle() string { return pageCSS }

// HTML writes the document as one page that loads nothing: no script, font or picture from
// elsewhere. Its policy makes browsers refuse everything but its own style.
func (d Document) HTML(w io.Writer) error {
	_, err := fmt.Fprintf(w, `<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s · linerate</title>
<style>
%s%s%s</style>
</head>
<body>
<main>
%s<footer>Made by linerate. Nothing on this page is loaded from elsewhere.</footer>
</main>
</body>
</html>
`, html.EscapeString(d.Title), chart.Style(), pageCSS, d.Style, d.Body())
	return err
}

// Body returns the content of HTML between head and foot, for a page in another frame, which needs
// chart.Style, PageStyle and the document's own Style.
func (d Document) Body() template.HTML {
	h := page{ids: map[string]int{}}
	h.add("<header>\n")
	if d.Kicker != "" {
		h.add(`<p class="kicker">%s`, inline(d.Kicker))
		for _, b := range d.Badges {
			h.add(` <span class="badge">%s</span>`, html.EscapeString(b))
		}
		h.add("</p>\n")
	}
	h.add("<h1>%s</h1>\n", html.EscapeString(d.Title))
	for _, a := range d.Answers {
		h.add(`<p class="answer">`)
		if a.Lead != "" {
			h.add("<b>%s</b>", html.EscapeString(a.Lead))
		}
		h.add("%s", html.EscapeString(a.Text))
		if a.Strong != "" {
			h.add(`<b class="%s">%s</b>`, html.EscapeString(a.Verdict), html.EscapeString(a.Strong))
		}
		h.add("</p>\n")
	}
	h.add("</header>\n")
	h.blocks(d.Blocks)
	list := `<nav class="contents" aria-label="Contents"><ol>` + h.contents.String() + "</ol></nav>\n"
	return template.HTML(show.NoBreak(strings.Replace(h.b.String(), here, list, 1))) //nolint:gosec // every text is escaped
}

// page is a page under construction.
type page struct {
	b, contents strings.Builder
	ids         map[string]int
}

func (h *page) add(format string, args ...any) { fmt.Fprintf(&h.b, format, args...) }

// here marks the place of the contents until all headings are known.
const here = "<!-- contents -->"

func (h *page) blocks(all []Block) {
	for _, block := range all {
		switch b := block.(type) {
		case Heading:
			h.heading(string(b))
		case Text:
			h.add("<p>%s</p>\n", inline(string(b)))
		case Note:
			h.add("<p class=\"note\">%s</p>\n", inline(string(b)))
		case Warning:
			h.add("<p class=\"warn\">%s</p>\n", inline(string(b)))
		case Code:
			h.add("<pre><code>%s</code></pre>\n", html.EscapeString(string(b)))
		case Contents:
			h.add(here)
		case Tiles:
			h.add(`<ul class="tiles">`)
			for _, t := range b {
				h.add("<li><b>%s</b><span>%s</span></li>", html.EscapeString(t.Value), html.EscapeString(t.Label))
			}
			h.add("</ul>\n")
		case Table:
			h.table(b)
		case Figure:
			h.add("<figure>")
			h.titled(b.Title, b.Note)
			h.add("<div class=\"scroll\">%s</div></figure>\n", b.SVG)
		case Picture:
			h.add("<figure>")
			h.titled(b.Title, "")
			if b.Text != "" {
				h.add("<p>%s</p>\n", html.EscapeString(b.Text))
			}
			h.add("<p class=\"cue note\">Wider than this screen: swipe sideways to see the rest →</p>\n<div class=\"scroll pan\">%s</div>\n<p class=\"note\">%s</p></figure>\n", b.SVG, html.EscapeString(b.Caption))
		case OnPage:
			h.blocks(b)
		}
	}
}

var noSlug = lazy.Regexp(`[^a-z0-9]+`)

// heading adds a heading with an anchor.
func (h *page) heading(text string) {
	id := strings.Trim(noSlug().ReplaceAllString(strings.ToLower(text), "-"), "-")
	if h.ids[id]++; h.ids[id] > 1 {
		id = fmt.Sprintf("%s-%d", id, h.ids[id])
	}
	fmt.Fprintf(&h.contents, `<li><a href="#%s">%s</a></li>`, id, html.EscapeString(text))
	h.add("<h2 id=\"%s\">%s</h2>\n", id, html.EscapeString(text))
}

// titled adds a small heading and a note, if not empty.
func (h *page) titled(title, note string) {
	if title != "" {
		h.add("<h3>%s</h3>\n", html.EscapeString(title))
	}
	if note != "" {
		h.add("<p class=\"note\">%s</p>\n", inline(note))
	}
}

// longCell is the number of columns from which a cell's text is wrapped, wrapCell the maximum if
// the table has no room: names are not broken.
const (
	longCell = 44
	wrapCell = 16
)

// table adds a table with rows between its title and its note.
func (h *page) table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	h.titled(t.Title, "")
	h.add(`<div class="scroll"><table%s>`, map[bool]string{true: ` class="words"`}[t.Prose])
	numbers := t.Numbers()
	cell := func(tag string, column int, text string) {
		var class []string
		if !numbers[column] && !t.Prose {
			class = append(class, "word")
		}
		switch wide := show.Width(text); {
		case tag != "td" || t.Prose:
		case wide > longCell:
			class = append(class, "long")
		case wide > wrapCell && !numbers[column]:
			class = append(class, "wrap")
		}
		if verdicts[text] != show.Plain {
			class = append(class, text)
		}
		open := tag
		if tag == "th" {
			open += ` scope="col"`
		}
		if len(class) > 0 {
			open += ` class="` + strings.Join(class, " ") + `"`
		}
		h.add("<%s>%s</%s>", open, strings.ReplaceAll(inline(text), "\n", "<br>"), tag)
	}
	if len(t.Header) > 0 {
		h.add("<thead><tr>")
		for i, text := range t.Header {
			cell("th", i, text)
		}
		h.add("</tr></thead>")
	}
	h.add("<tbody>\n")
	for _, row := range t.Rows {
		h.add("<tr>")
		for i, text := range row {
			cell("td", i, text)
		}
		h.add("</tr>\n")
	}
	h.add("</tbody></table></div>\n")
	h.titled("", t.Note)
}

var code = lazy.Regexp("`([^`]+)`")

// inline escapes a text and formats text in backquotes as code.
func inline(text string) string {
	return code().ReplaceAllString(html.EscapeString(text), "<code>$1</code>")
}
