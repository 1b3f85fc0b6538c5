package tunable

import (
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// Operating systems of the catalogue.
const (
	FreeBSD = fact.FreeBSD
	Linux   = fact.Linux
)

// Concept is an idea that systems implement under different names.
type Concept struct {
	Name    string `yaml:"name" cbor:",omitzero"`
	Title   string `yaml:"title" cbor:",omitzero"`
	Summary string `yaml:"summary" cbor:",omitzero"`
}

// Catalogue holds all records, claims and concepts.
type Catalogue struct {
	// Records are sorted by OS and name after loading.
	Records  []*Record
	Claims   []Claims
	Concepts []Concept
	// Conditions holds the records' conditions in words.
	Conditions []Condition

	byName    map[key]*Record
	byConcept map[string][]*Record
	claims    map[key][]Claim
	folds     *folds
	spans     *sync.Map // system → [2]release.Release, filled on demand
}

type key struct{ os, name string }

// index builds the lookup tables.
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

// Lookup returns the record for a name as a host spells it: dev.igb.0.fc finds dev.igb.N.fc,
// ifconfig_em0 finds ifconfig_IF.
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

// folds caches the records of names that are not a record's own name: a host's checks, and a
// fleet's hosts, look up the same names. It never evicts, and stops at maxFolds.
type folds struct {
	mu    sync.RWMutex
	known map[key]*Record
}

// maxFolds is the maximum number of cached names.
const maxFolds = 50_000

// of returns the cached result of find for k. It also works on a nil cache.
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

// Find is Lookup for names typed by users; an empty os tries each system. A name of the other
// system and an unknown name give errors, the latter with the nearest names.
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

// Names returns the names of an operating system's records; "" means all systems.
func (c *Catalogue) Names(os string) []string {
	var names []string
	for _, r := range c.Records {
		if os == "" || r.OS == os {
			names = append(names, r.Name)
		}
	}
	return names
}

// ClaimsOn returns the claims about a record, in file order.
func (c *Catalogue) ClaimsOn(r *Record) []Claim { return c.claims[key{r.OS, r.Name}] }

// ClaimSource returns the source of a claim.
func (c *Catalogue) ClaimSource(name string) (Claims, bool) {
	return list.Find(c.Claims, func(s Claims) bool { return s.Source == name })
}

// Concept returns a concept by name.
func (c *Catalogue) Concept(name string) (Concept, bool) {
	return list.Find(c.Concepts, func(k Concept) bool { return k.Name == name })
}

// WithConcept returns the records of a concept, on all systems.
func (c *Catalogue) WithConcept(name string) []*Record { return c.byConcept[name] }
