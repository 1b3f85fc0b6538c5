package tunable

import (
	"slices"
	"strings"
	"sync"

	"linerate/internal/fact"
)

// Operating systems of the catalogue.
const (
	FreeBSD = fact.FreeBSD
	Linux   = fact.Linux
)

// Concept is an idea that several systems have under different names.
type Concept struct {
	Name    string `yaml:"name"`
	Title   string `yaml:"title"`
	Summary string `yaml:"summary"`
}

// Catalogue is every record, claim and concept.
type Catalogue struct {
	// Records are sorted by OS and name after loading.
	Records  []*Record
	Claims   []Claims
	Concepts []Concept
	// Conditions are the words of the records' conditions.
	Conditions []Condition

	byName    map[key]*Record
	byConcept map[string][]*Record
	claims    map[key][]Claim
	folds     *folds
	spans     *sync.Map // system → [2]release.Release, once they were asked for
}

type key struct{ os, name string }

// index builds the tables of the look-ups.
func (c *Catalogue) index() {
	c.byName = make(map[key]*Record, len(c.Records)*5/4)
	c.folds, c.spans = &folds{known: map[key]*Record{}}, &sync.Map{}
	c.byConcept, c.claims = map[string][]*Record{}, map[key][]Claim{}
	for _, r := range c.Records {
		c.byName[key{r.OS, r.Name}] = r
		for _, name := range r.Instances {
			c.byName[key{r.OS, name}] = r
		}
		if r.Concept != "" {
			c.byConcept[r.Concept] = append(c.byConcept[r.Concept], r)
		}
	}
	for _, set := range c.Claims {
		for _, cl := range set.Claims {
			if r, ok := c.Lookup(set.OS, cl.Name); ok {
				k := key{r.OS, r.Name}
				c.claims[k] = append(c.claims[k], cl)
			}
		}
	}
}

// Lookup finds the record of a name as a host spells it: dev.igb.0.fc is
// found as dev.igb.N.fc, ifconfig_em0 as ifconfig_IF.
func (c *Catalogue) Lookup(os, name string) (*Record, bool) {
	if r, ok := c.byName[key{os, name}]; ok {
		return r, true
	}
	r := c.folds.of(key{os, name}, func() *Record {
		for _, n := range folded(name) {
			if r, ok := c.byName[key{os, n}]; ok {
				return r
			}
		}
		return nil
	})
	return r, r != nil
}

// folds remembers what names that are no record's own mean: a host has the same ones
// in each check, and a fleet's hosts have the same. It forgets nothing, and holds no
// more than its bound.
type folds struct {
	mu    sync.RWMutex
	known map[key]*Record
}

// maxFolds bounds the names that are remembered.
const maxFolds = 50_000

// of is what a name means, found out once. It works without a memory, too.
func (f *folds) of(k key, find func() *Record) *Record {
	if f == nil || len(k.name) > 200 {
		return find()
	}
	f.mu.RLock()
	r, ok := f.known[k]
	f.mu.RUnlock()
	if ok {
		return r
	}
	r = find()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) < maxFolds {
		f.known[key{k.os, strings.Clone(k.name)}] = r
	}
	return r
}

// Find is Lookup for people, on each system in turn where os is "": a name of the other system
// is an error that says so, an unknown one an error that names the nearest.
func (c *Catalogue) Find(os, name string) (*Record, error) {
	systems := []string{os}
	if os == "" {
		systems = []string{FreeBSD, Linux}
	}
	for _, os := range systems {
		if r, ok := c.Lookup(os, name); ok {
			return r, nil
		}
	}
	if err := c.elsewhere(os, name); os != "" && err != nil {
		return nil, err
	}
	return nil, c.unknown(os, name)
}

// Names lists the names of an operating system's records; "" is every one.
func (c *Catalogue) Names(os string) []string {
	var names []string
	for _, r := range c.Records {
		if os == "" || r.OS == os {
			names = append(names, r.Name)
		}
	}
	return names
}

// ClaimsOn lists what the sources say of a record, in the order of the files.
func (c *Catalogue) ClaimsOn(r *Record) []Claim { return c.claims[key{r.OS, r.Name}] }

// ClaimSource is the source of a claim.
func (c *Catalogue) ClaimSource(name string) (Claims, bool) {
	i := slices.IndexFunc(c.Claims, func(s Claims) bool { return s.Source == name })
	if i < 0 {
		return Claims{}, false
	}
	return c.Claims[i], true
}

// Concept is a concept by name.
func (c *Catalogue) Concept(name string) (Concept, bool) {
	i := slices.IndexFunc(c.Concepts, func(k Concept) bool { return k.Name == name })
	if i < 0 {
		return Concept{}, false
	}
	return c.Concepts[i], true
}

// WithConcept lists the records of a concept, on every system.
func (c *Catalogue) WithConcept(name string) []*Record { return c.byConcept[name] }
