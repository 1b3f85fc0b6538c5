// Package site generates a web site from the catalogue: a page and JSON for each tunable,
// lists, and a search that runs in the browser. It loads nothing from elsewhere and works
// from file://.
package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact/release"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// Input holds the inputs of the site.
type Input struct {
	Catalogue *tunable.Catalogue
	Rules     []*audit.Rule
	Evidence  []evidence.Row
	Built     string // version and date, for the footer
	// Within is the navigation of a server that includes the site; the site's own is below it.
	Within []Link
}

// maker writes the pages.
type maker struct {
	Input
	put   func(name string, data []byte) error
	urls  map[*tunable.Record]string // without the extension
	taken map[string]bool
	rows  map[string][]evidence.Row

	measured, refuted []link // from published evidence
}

// newMaker assigns every page its URL.
func newMaker(in Input, put func(name string, data []byte) error) *maker {
	m := &maker{Input: in, put: put, urls: map[*tunable.Record]string{}, taken: map[string]bool{}, rows: map[string][]evidence.Row{}}
	for _, row := range in.Evidence {
		k := strings.ToLower(row.OS) + " " + row.Tunable
		m.rows[k] = append(m.rows[k], row)
	}
	for _, r := range in.Catalogue.Records {
		m.urls[r] = m.urlOf(r)
	}
	return m
}

// Write writes the site, file by file.
func Write(in Input, put func(name string, data []byte) error) error {
	m := newMaker(in, put)
	return m.all(m.tunable)
}

// all writes all pages: each tunable's with one, then those about several.
func (m *maker) all(one func(*tunable.Record, explain.Page, *OnFleet) error) error {
	var entries []entry
	for _, r := range m.Catalogue.Records {
		p := m.page(r, nil, nil)
		if err := one(r, p, nil); err != nil {
			return err
		}
		entries = append(entries, entryOf(m.Catalogue, r, p, m.urls[r]))
		at := link{r.OS, r.Name, m.urls[r] + ".html", ""}
		if len(p.Evidence) > 0 {
			m.measured = append(m.measured, at)
		}
		if refuted(p) {
			m.refuted = append(m.refuted, at)
		}
	}
	if err := m.assets(entries); err != nil {
		return err
	}
	for _, make := range []func() error{m.front, m.lists} {
		if err := make(); err != nil {
			return err
		}
	}
	return nil
}

// urlOf returns a record's URL: its name in characters valid in URLs and file systems. Names that
// would become equal get a hash of the whole name.
func (m *maker) urlOf(r *tunable.Record) string {
	name := strings.Map(func(c rune) rune {
		if strings.ContainsRune("._-", c) || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '~'
	}, r.Name)
	url := "t/" + r.OS + "/" + strings.ReplaceAll(name, "~", "_")
	if key := strings.ToLower(url); m.taken[key] {
		h := fnv.New32a()
		h.Write([]byte(r.Name))
		url += fmt.Sprintf("-%08x", h.Sum32())
	}
	m.taken[strings.ToLower(url)] = true
	return url
}

// page returns the explanation of a record on the newest release, with the shipped evidence and
// that of a ledger for it and its siblings.
func (m *maker) page(r *tunable.Record, mine, siblings []evidence.Row) explain.Page {
	p := explain.Of(m.Catalogue, r, r.Name, release.Release{})
	p.AddEvidence(mine, siblings, m.rows[r.OS+" "+r.Name])
	return p
}

// plainly matches an expression that is a name, or a function of one.
var plainly = lazy.Regexp(`^(?:[a-z_]+\()?([a-z_]+(?:\.[a-z_]+)?)\)?$`)

// words replaces expressions for readers without a host; others are shown as they are.
var words = map[string]string{"line.value": "VALUE", "this_text": "VALUE", "this": "VALUE", "count": "N", "new": "N", "current": "the current value", "want": "what is needed",
	"nic.name": "the interface", "counter_name": "its counter"}

// filled replaces expressions in a text about a tunable, for readers without a host.
func filled(text, name string) string {
	for {
		from := strings.Index(text, "${")
		if from < 0 {
			return text
		}
		to := strings.IndexByte(text[from:], '}')
		if to < 0 {
			return text
		}
		told := "…"
		if m := plainly().FindStringSubmatch(text[from+2 : from+to]); m != nil && m[1] == "line.name" {
			told = name
		} else if m != nil {
			told = cmp.Or(words[m[1]], strings.NewReplacer("_", " ", ".", " ").Replace(m[1]))
		}
		text = text[:from] + told + text[from+to+1:]
	}
}

// tunable writes a record's page and its JSON.
func (m *maker) tunable(r *tunable.Record, p explain.Page, on *OnFleet) error {
	d := beside{p, m.same(r), on}
	doc, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write the JSON of %s: %w", r.Name, err)
	}
	if err := m.put(m.urls[r]+".json", doc); err != nil {
		return err
	}
	return m.write(m.urls[r]+".html", "tunable", p.Name, map[string]any{"D": d, "P": p, "JSON": path.Base(m.urls[r]) + ".json", "Shown": shown(p.Evidence), "Several": several(on)})
}

// shown splits verdicts into those that a page shows at once, of primary metrics, and those that
// are folded.
func shown(all []explain.Evidence) map[string][]explain.Evidence {
	parts := map[string][]explain.Evidence{}
	for _, e := range all {
		key := "first"
		if !e.Primary || len(parts["first"]) >= 12 {
			key = "rest"
		}
		parts[key] = append(parts[key], e)
	}
	if len(parts["first"]) == 0 {
		parts["first"], parts["rest"] = parts["rest"], nil
	}
	return parts
}

// write renders a template and stores the page.
func (m *maker) write(name, template, title string, data map[string]any) error {
	root := strings.Repeat("../", strings.Count(name, "/"))
	f := Frame{Title: title, Style: root + "site.css", Built: m.Built, Nav: m.nav(root)}
	if m.Within != nil {
		f.Nav, f.Sub = m.Within, f.Nav
	}
	data["Root"], data["Frame"] = root, f
	data["Title"] = title
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, template, data); err != nil {
		return fmt.Errorf("make the page %s: %w", name, err)
	}
	return m.put(name, b.Bytes())
}

// nav returns the site's navigation for a page, given its relative path to the root.
func (m *maker) nav(root string) []Link {
	all := []Link{{"linerate", root + "index.html"}, {"FreeBSD", root + "list/freebsd.html"}, {"Linux", root + "list/linux.html"}}
	if m.Within != nil {
		all[0].Name = "Search"
	}
	return all
}

// group is a part of a list.
type group struct {
	Title string
	Links []link
}

// lists writes a page of each system's tunables, by subsystem.
func (m *maker) lists() error {
	for _, os := range []string{tunable.FreeBSD, tunable.Linux} {
		by := map[string][]link{}
		var names []string
		for _, r := range m.Catalogue.Records {
			if r.OS != os {
				continue
			}
			if by[r.Subsystem] == nil {
				names = append(names, r.Subsystem)
			}
			by[r.Subsystem] = append(by[r.Subsystem], link{os, r.Name, "../" + m.urls[r] + ".html", defaultOf(r.Entry(release.Release{}))})
		}
		slices.Sort(names)
		groups := list.Map(names, func(n string) group { return group{n, by[n]} })
		if err := m.write("list/"+os+".html", "list", "Tunables of "+systems[os], map[string]any{"Groups": groups}); err != nil {
			return err
		}
	}
	return nil
}

var systems = map[string]string{tunable.FreeBSD: "FreeBSD", tunable.Linux: "Linux"}

// front writes the page with the search.
func (m *maker) front() error {
	count := map[string]int{}
	claims := 0
	for _, r := range m.Catalogue.Records {
		count[r.OS]++
	}
	for _, s := range m.Catalogue.Claims {
		claims += len(s.Claims)
	}
	return m.write("index.html", "front", "Tunables of FreeBSD and Linux", map[string]any{
		"FreeBSD": count[tunable.FreeBSD], "Linux": count[tunable.Linux], "Claims": claims, "Verdicts": len(m.Evidence),
		"Measured": m.measured, "Refuted": m.refuted,
	})
}
