package chart

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"strings"
	"sync"

	"linerate/internal/show"
)

//go:embed chart.css
var chartCSS string

//go:embed page.css
var pageCSS string

//go:embed page.html
var frame string

// Style is the style sheet of charts: the colours of light, dark and paper, and
// the looks of shapes.
func Style() string { return chartCSS }

// PageStyle is the style sheet of pages, for those that share one file of it.
func PageStyle() string { return pageCSS }

// Page is the template of a page that loads nothing.
type Page struct {
	name string
	made func() *template.Template
}

// NewPage frames the text of a page: templates "title" and "body", and where it
// wants them "style" and "script". The text is parsed when it is first needed, and panics
// then if it does not parse: few commands write pages.
func NewPage(name, text string, funcs template.FuncMap) Page {
	return Page{name, sync.OnceValue(func() *template.Template {
		t := template.New(name).Funcs(template.FuncMap{
			"chartStyle": func() template.CSS { return template.CSS(chartCSS + pageCSS) }, //nolint:gosec // embedded
		}).Funcs(funcs)
		return template.Must(template.Must(t.Parse(frame)).Parse(text))
	})}
}

// Write fills the page; numbers stay on one line with their units.
func (p Page) Write(w io.Writer, data any) error {
	var b bytes.Buffer
	if err := p.made().Execute(&b, data); err != nil {
		return fmt.Errorf("render the page %s: %w", p.name, err)
	}
	_, err := io.WriteString(w, contents(show.NoBreak(b.String())))
	return err
}

// Body is what Write writes between the page's head and its foot, for a page with a frame
// of another's, which needs Style, PageStyle and the template's own style.
func (p Page) Body(data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := p.made().ExecuteTemplate(&b, "body", data); err != nil {
		return "", fmt.Errorf("render the page %s: %w", p.name, err)
	}
	return template.HTML(contents(show.NoBreak(b.String()))), nil //nolint:gosec // a template's output
}

// here is where a page wants its table of contents.
const here = `<nav class="contents"></nav>`

var (
	heading = regexp.MustCompile(`<h2>(.*?)</h2>`)
	noSlug  = regexp.MustCompile(`[^a-z0-9]+`)
)

// contents gives headings names to link to, and lists them where a page wants it.
func contents(page string) string {
	if !strings.Contains(page, here) {
		return page
	}
	var list strings.Builder
	seen := map[string]int{}
	page = heading.ReplaceAllStringFunc(page, func(h string) string {
		text := heading.FindStringSubmatch(h)[1]
		id := strings.Trim(noSlug.ReplaceAllString(strings.ToLower(html.UnescapeString(text)), "-"), "-")
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id])
		}
		fmt.Fprintf(&list, `<li><a href="#%s">%s</a></li>`, id, text)
		return fmt.Sprintf(`<h2 id="%s">%s</h2>`, id, text)
	})
	return strings.Replace(page, here, `<nav class="contents" aria-label="Contents"><ol>`+list.String()+`</ol></nav>`, 1)
}

// Figure is a chart drawn for both widths, with its words.
type Figure struct {
	Title, Note  string
	Wide, Narrow template.HTML
}

// Draw makes a Figure of a chart that escapes every text; none where there is
// nothing to draw.
func Draw(title, note string, draw func(width float64) string) []Figure {
	wide := draw(Wide)
	if wide == "" {
		return nil
	}
	return []Figure{{title, note, template.HTML(wide), template.HTML(draw(Narrow))}} //nolint:gosec // the caller's part of the contract
}

// Alone makes a chart a document of its own, with its style and a background.
func Alone(svg string) []byte {
	// Pages hide wide charts on narrow screens; here is no other.
	svg = strings.Replace(svg, `class="chart wide"`, `class="chart"`, 1)
	head, body, _ := strings.Cut(svg, "\n")
	return fmt.Appendf(nil, "%s\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"var(--paper)\"/>\n%s\n", head, chartCSS, body)
}
