package site

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fleet"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// Pages are the site's pages for a server, each made when it is asked for: a tunable's
// with what a ledger has of it by then.
type Pages struct {
	m       *maker
	records map[string]*tunable.Record // by URL without the extension
	rest    func() (map[string][]byte, error)
}

// NewPages prepares the pages. They may be asked for by several at once.
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

// into is a maker that puts pages into a map.
func (p *Pages) into() (*maker, map[string][]byte) {
	m, files := *p.m, map[string][]byte{}
	m.put = func(name string, data []byte) error {
		files[name] = data
		return nil
	}
	return &m, files
}

// URL is the place of a tunable's page, "" for a name that has none.
func (p *Pages) URL(os, name string) string {
	r, ok := p.m.Catalogue.Lookup(os, name)
	if !ok {
		return ""
	}
	return p.m.urls[r] + ".html"
}

// About is what a ledger has of a tunable.
type About struct {
	// Mine is its evidence, Siblings that on others of its concept.
	Mine, Siblings []evidence.Row
	// Fleet are the findings about it on a fleet's hosts; nil where there is no fleet.
	Fleet *OnFleet
}

// OnFleet are the findings about a tunable on the hosts of a fleet.
type OnFleet struct {
	Hosts  int                  `json:"hosts"` // of its system
	Counts []fleet.TunableCount `json:"counts"`
}

// Page is a file of the site, or fs.ErrNotExist. about, unless nil, says what a ledger has
// of a tunable.
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

// other is a page that is not of one tunable; they are all made with the first.
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

// Catalogue is what the pages are about.
func (p *Pages) Catalogue() *tunable.Catalogue { return p.m.Catalogue }

// Says is what a rule says for readers who have no host; "" of an unknown one.
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

// several reports findings under more than one name of a tunable, as of several devices.
func several(on *OnFleet) bool {
	return on != nil && slices.ContainsFunc(on.Counts, func(c fleet.TunableCount) bool { return c.Tunable != on.Counts[0].Tunable })
}
