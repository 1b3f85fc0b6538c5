package site

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact/release"
	"linerate/internal/fleet"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// Pages generates the site's pages on request, for a server: a tunable's page includes the ledger's
// current data.
type Pages struct {
	m       *maker
	records map[string]*tunable.Record // by URL without the extension
	rest    func() (map[string][]byte, error)
}

// NewPages returns the pages. It is safe for concurrent use.
func NewPages(in Input) *Pages {
	p := &Pages{m: newMaker(in, nil), records: map[string]*tunable.Record{}}
	for r, url := range p.m.urls {
		p.records[url] = r
	}
	p.rest = sync.OnceValues(func() (map[string][]byte, error) {
		m, files := p.into()
		return files, m.all(func(*tunable.Record, explain.Page, *OnFleet) error { return nil })
	})
	return p
}

// into returns a maker that stores pages in a map.
func (p *Pages) into() (*maker, map[string][]byte) {
	m, files := *p.m, map[string][]byte{}
	m.put = func(name string, data []byte) error {
		files[name] = data
		return nil
	}
	return &m, files
}

// URL returns the URL of a tunable's page, "" if there is none.
func (p *Pages) URL(os, name string) string {
	r, ok := p.m.Catalogue.Lookup(os, name)
	if !ok {
		return ""
	}
	return p.m.urls[r] + ".html"
}

// About is a ledger's data about a tunable.
type About struct {
	// Mine is its evidence, Siblings that for others of its concept.
	Mine, Siblings []evidence.Row
	// Fleet holds findings about it on a fleet's hosts; nil if there is no fleet.
	Fleet *OnFleet
}

// OnFleet holds the findings about a tunable on the hosts of a fleet.
type OnFleet struct {
	Hosts  int                  `json:"hosts"` // number of hosts with its system
	Counts []fleet.TunableCount `json:"counts"`
}

// Page returns a file of the site, or fs.ErrNotExist. about, unless nil, returns a ledger's data
// about a tunable.
func (p *Pages) Page(name string, about func(*tunable.Record) (About, error)) ([]byte, error) {
	url := strings.TrimSuffix(strings.TrimSuffix(name, ".html"), ".json")
	r, ok := p.records[url]
	if !ok || url == name {
		return p.other(name)
	}
	var has About
	if about != nil {
		var err error
		if has, err = about(r); err != nil {
			return nil, err
		}
	}
	m, files := p.into()
	if err := m.tunable(r, m.page(r, has.Mine, has.Siblings), has.Fleet); err != nil {
		return nil, err
	}
	if data, ok := files[name]; ok {
		return data, nil
	}
	return nil, noPage(name)
}

// other returns a page that is not about one tunable; all of these are generated together.
func (p *Pages) other(name string) ([]byte, error) {
	switch name {
	case "site.css":
		return Style(), nil
	case "site.js":
		return script, nil
	}
	files, err := p.rest()
	if err != nil {
		return nil, err
	}
	data, ok := files[name]
	if !ok {
		return nil, noPage(name)
	}
	return data, nil
}

func noPage(name string) error { return fmt.Errorf("page %s: %w", name, fs.ErrNotExist) }

// Catalogue returns the catalogue of the pages.
func (p *Pages) Catalogue() *tunable.Catalogue { return p.m.Catalogue }

// Says returns a rule's message for readers without a host; "" if unknown.
func (p *Pages) Says(rule string) string {
	if rule == fleet.DriftRule {
		return fleet.DriftWords
	}
	for _, r := range p.m.Rules {
		if r.ID == rule {
			return filled(r.Message, "a setting")
		}
	}
	return audit.Structural(rule)
}

// several reports findings under more than one name of a tunable, as for several devices.
func several(on *OnFleet) bool {
	return on != nil && slices.ContainsFunc(on.Counts, func(c fleet.TunableCount) bool { return c.Tunable != on.Counts[0].Tunable })
}

// beside is a page's JSON: the output of explain, with links.
type beside struct {
	explain.Page
	Same  []link   `json:"same_concept_pages,omitempty"`
	Fleet *OnFleet `json:"fleet,omitempty"` // on a server with a ledger
}

// link is a link to a page of the site.
type link struct {
	OS   string `json:"os"`
	Name string `json:"name"`
	URL  string `json:"url"`
	Is   string `json:"default,omitempty"`
}

// same returns links to the other tunables of the record's concept.
func (m *maker) same(r *tunable.Record) (all []link) {
	if r.Concept == "" {
		return nil
	}
	for _, o := range m.Catalogue.WithConcept(r.Concept) {
		if o == r || o.Driver != "" && r.Driver == "" && o.OS == r.OS {
			continue
		}
		e := o.Entry(release.Release{})
		all = append(all, link{o.OS, o.Name, "../../" + m.urls[o] + ".html", defaultOf(e)})
	}
	return all
}

func defaultOf(e tunable.Entry) string {
	switch {
	case !e.Exists && e.RemovedIn != "":
		return "gone since " + e.RemovedIn
	case !e.Exists:
		return "not there"
	case e.DefaultIsFormula:
		return "computed"
	}
	return e.Default
}
