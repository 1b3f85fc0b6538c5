package site

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/russross/blackfriday/v2"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/fact/release"
	"linerate/internal/fleet"
	"linerate/internal/show"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

//go:embed site.js
var script []byte

//go:embed site.css
var style string

// entry is a search result, in the format of the script.
type entry struct {
	Name string `json:"n"`
	URL  string `json:"u"`
	OS   int    `json:"o"` // 0 FreeBSD, 1 Linux
	Text string `json:"t"`
	Idea string `json:"i,omitempty"` // other words that find it
	// Releases is a bit set of the releases on which it exists, in the order of explain.Releases.
	Releases uint32 `json:"r"`
	Flags    int    `json:"f"`
}

// Flags of an entry.
const (
	isMeasured = 1 << iota
	isGone
	isRefuted
	isDriver
)

func entryOf(c *tunable.Catalogue, r *tunable.Record, p explain.Page, url string) entry {
	k, _ := c.Concept(r.Concept)
	e := entry{Name: r.Name, URL: url + ".html", Text: firstSentence(r.Summary), Idea: strings.TrimSpace(k.Name + " " + k.Title)}
	if r.OS == tunable.Linux {
		e.OS = 1
	}
	for i, name := range explain.Releases[r.OS] {
		if rel, err := release.Parse(name); err == nil && r.At(rel).Exists {
			e.Releases |= 1 << i
		}
	}
	for flag, set := range map[int]bool{isMeasured: len(p.Evidence) > 0, isGone: !r.Entry(release.Release{}).Exists, isRefuted: refuted(p), isDriver: r.Driver != ""} {
		if set {
			e.Flags |= flag
		}
	}
	return e
}

// refuted reports whether some claim is wrong or outdated.
func refuted(p explain.Page) bool {
	return slices.ContainsFunc(p.Claims, func(c explain.Claim) bool { return c.Verdict == tunable.Wrong || c.Verdict == tunable.Stale })
}

// firstSentence returns the first sentence of a summary, at most a line and a half.
func firstSentence(s string) string {
	s, _, _ = strings.Cut(s, ". ")
	if r := []rune(s); len(r) > 140 {
		return strings.TrimSpace(string(r[:138])) + " …"
	}
	return strings.TrimSuffix(s, ".")
}

// assets writes shared files; the index is a script, which pages can load even from file://.
func (m *maker) assets(entries []entry) error {
	data, err := json.Marshal(map[string]any{"entries": entries, "releases": [][]string{explain.Releases[tunable.FreeBSD], explain.Releases[tunable.Linux]}})
	if err != nil {
		return fmt.Errorf("write the search's index: %w", err)
	}
	for name, data := range map[string][]byte{"index.js": slices.Concat([]byte("window.LINERATE="), data, []byte(";\n")), "site.js": script, "site.css": Style()} {
		if err := m.put(name, data); err != nil {
			return err
		}
	}
	return nil
}

//go:embed templates.html
var templateText string

// Link is an entry in a page's navigation.
type Link struct{ Name, URL string }

// Frame is what surrounds every page, for the templates "head" and "foot".
type Frame struct {
	Title, Style, Built string
	Nav, Sub            []Link
	Here                string // path of the page, below one of Nav's; may be ""
	// Refresh is after how many seconds a browser without scripts reloads the page; 0 never does.
	Refresh int
}

// Templates returns a copy of the templates, for a server to extend: "head" and "foot" for a Frame,
// "tunable", "evidence".
func Templates() *template.Template { return template.Must(templates().Clone()) }

// Style returns the style sheet of pages.
func Style() []byte { return []byte(chart.Style() + document.PageStyle() + style) }

// templates are parsed on first use.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("site").Funcs(template.FuncMap{
		"system":  func(os string) string { return systems[os] },
		"join":    func(list []string) string { return strings.Join(list, ", ") },
		"anchor":  blackfriday.SanitizedAnchorName,
		"short":   short,
		"value":   func(v string) string { return cmp.Or(v, "default") },
		"count":   show.Count[int],
		"query":   query,
		"role":    func(role string) string { return cmp.Or(role, fleet.NoRole) }, // as in URLs
		"under":   func(page, section string) bool { return page == section || strings.HasPrefix(page, section+"/") },
		"section": func(id string) string { return sections[id] },
	}).Parse(templateText))
})

// sections maps names in URLs, which never change, to headings of a tunable's page.
var sections = map[string]string{
	"releases": "By release", "idea": "The same idea elsewhere", "when": "When it helps and hurts", "cautions": "Cautions", "coupled": "Coupled with",
	"roles": "For a role", "fleet": "In your fleet", "claims": "Claims", "measured": "Measured", "notes": "Notes", "sources": "Sources",
}

// short shortens a formula for a table.
func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:58]) + " …"
	}
	return s
}

// query returns a URL query from alternating names and values; it skips empty values. A plain
// string would be escaped again by templates.
func query(pairs ...string) template.URL {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return template.URL(q.Encode()) //nolint:gosec // encoded
}
