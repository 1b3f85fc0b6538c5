package site

import (
	"cmp"
	_ "embed"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"github.com/russross/blackfriday/v2"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/fleet"
	"linerate/internal/show"
)

//go:embed templates.html
var templateText string

// Link is a word of a page's navigation.
type Link struct{ Name, URL string }

// Frame is what stands around every page, for the templates "head" and "foot".
type Frame struct {
	Title, Style, Built string
	Nav, Sub            []Link
	// Refresh is after how many seconds a browser without scripts loads the page again; 0
	// is never.
	Refresh int
}

// Templates are a copy of what pages are made of, for a server to add its own to: "head"
// and "foot" of a Frame, "tunable", "evidence".
func Templates() *template.Template { return template.Must(templates().Clone()) }

// Style is the style sheet of pages.
func Style() []byte { return []byte(chart.Style() + document.PageStyle() + style) }

// templates are parsed when the first page is made.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("site").Funcs(template.FuncMap{
		"system":  func(os string) string { return systems[os] },
		"join":    func(list []string) string { return strings.Join(list, ", ") },
		"anchor":  blackfriday.SanitizedAnchorName,
		"short":   short,
		"value":   func(v string) string { return cmp.Or(v, "default") },
		"count":   show.Count[int],
		"query":   query,
		"role":    func(role string) string { return cmp.Or(role, fleet.NoRole) }, // as addresses have it
		"section": func(id string) string { return sections[id] },
	}).Parse(templateText))
})

// sections are the headings of a tunable's page by their names in URLs, which never
// change.
var sections = map[string]string{
	"releases": "By release", "idea": "The same idea elsewhere", "when": "When it helps and hurts", "cautions": "Cautions", "coupled": "Coupled with",
	"roles": "For a role", "fleet": "In your fleet", "claims": "Claims", "measured": "Measured", "notes": "Notes", "sources": "Sources",
}

// short keeps a formula from filling a table.
func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:58]) + " …"
	}
	return s
}

// query is the query of an address, of names and values in turn; what has no value is left
// out. A template would escape a plain text once more.
func query(pairs ...string) template.URL {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return template.URL(q.Encode()) //nolint:gosec // encoded
}
