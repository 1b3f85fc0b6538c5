package tunable

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
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

	byName    map[key]*Record
	byConcept map[string][]*Record
	claims    map[key][]Claim
}

type key struct{ os, name string }

// index sorts, refuses duplicates and dangling references, and builds the
// tables of the look-ups.
func (c *Catalogue) index() error {
	slices.SortStableFunc(c.Records, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.OS, b.OS), cmp.Compare(a.Name, b.Name))
	})
	c.byName = make(map[key]*Record, len(c.Records))
	c.byConcept = map[string][]*Record{}
	var errs []error
	for _, r := range c.Records {
		for _, name := range append([]string{r.Name}, r.Instances...) {
			if old := c.byName[key{r.OS, name}]; old != nil {
				errs = append(errs, fmt.Errorf("%s:%d: %s: already at %s:%d", r.File, r.Line, name, old.File, old.Line))
			}
			c.byName[key{r.OS, name}] = r
		}
		if r.Concept != "" {
			c.byConcept[r.Concept] = append(c.byConcept[r.Concept], r)
		}
	}
	c.claims = map[key][]Claim{}
	for _, set := range c.Claims {
		for _, cl := range set.Claims {
			r, ok := c.Lookup(set.OS, cl.Name)
			if !ok {
				errs = append(errs, fmt.Errorf("%s:%d: claim on %s, which has no record", set.File, cl.Line, cl.Name))
				continue
			}
			k := key{r.OS, r.Name}
			c.claims[k] = append(c.claims[k], cl)
		}
	}
	errs = append(errs, c.checkReferences()...)
	return errors.Join(errs...)
}

// checkReferences refuses names that records mention and the catalogue lacks.
func (c *Catalogue) checkReferences() []error {
	var errs []error
	concepts := map[string]bool{}
	for _, k := range c.Concepts {
		if concepts[k.Name] || k.Title == "" {
			errs = append(errs, fmt.Errorf("concepts.yaml: %s: twice, or without a title", k.Name))
		}
		concepts[k.Name] = true
	}
	for _, r := range c.Records {
		refs := slices.Clone(r.Related)
		for _, k := range r.Coupled {
			refs = append(refs, k.Name)
		}
		if r.RenamedTo != "" {
			refs = append(refs, r.RenamedTo)
		}
		if r.AliasOf != "" {
			refs = append(refs, r.AliasOf)
		}
		for _, name := range refs {
			if _, ok := c.Lookup(r.OS, name); !ok {
				errs = append(errs, fmt.Errorf("%s:%d: %s mentions %s, which has no record", r.File, r.Line, r.Name, name))
			}
		}
		if r.Concept != "" && !concepts[r.Concept] {
			errs = append(errs, fmt.Errorf("%s:%d: %s: concept %q is not in concepts.yaml", r.File, r.Line, r.Name, r.Concept))
		}
	}
	return errs
}

// Lookup finds the record of a name as a host spells it: dev.igb.0.fc is
// found as dev.igb.N.fc, ifconfig_em0 as ifconfig_IF.
func (c *Catalogue) Lookup(os, name string) (*Record, bool) {
	for _, n := range Folded(name) {
		if r, ok := c.byName[key{os, n}]; ok {
			return r, true
		}
	}
	return nil, false
}

// Find is Lookup for people: an unknown name is an error that names the
// nearest ones.
func (c *Catalogue) Find(os, name string) (*Record, error) {
	if r, ok := c.Lookup(os, name); ok {
		return r, nil
	}
	return nil, hint.Unknown("tunable", name, c.Names(os))
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

// Folded lists the spellings under which the catalogue may know a name, the
// name itself first: unit numbers of devices and their queues become N, the
// interface in an rc.conf variable IF.
func Folded(name string) []string {
	names := []string{name}
	if f := foldUnits(name); f != name {
		names = append(names, f)
	}
	if f, ok := foldInterface(name); ok {
		names = append(names, f)
	}
	return names
}

// foldUnits replaces the unit of a device, and numbers of its queues, by N.
func foldUnits(name string) string {
	if !strings.HasPrefix(name, "dev.") && !strings.HasPrefix(name, "hint.") && !strings.HasPrefix(name, "net.wlan.") {
		return name
	}
	parts := strings.Split(name, ".")
	for i := 2; i < len(parts); i++ {
		stem := strings.TrimRight(parts[i], "0123456789")
		if stem == parts[i] {
			continue
		}
		if stem == "" || isQueue(stem) {
			parts[i] = stem + "N"
		}
	}
	return strings.Join(parts, ".")
}

// isQueue reports names of numbered queues and channels of a driver's nodes.
func isQueue(stem string) bool {
	switch stem {
	case "queue", "rxq", "txq", "queue_rx_", "queue_tx_", "rx_ring", "tx_ring", "rxq_", "txq_", "tc", "pf", "pf_", "iov", "rx", "tx", "channel":
		return true
	}
	return false
}

// interfaceVariables are rc.conf variables with an interface in their names:
// what stands before it, and the endings that may follow.
var interfaceVariables = []struct {
	prefix   string
	suffixes []string
}{
	{"ifconfig_", []string{"", "_ipv6", "_aliases", "_name", "_descr"}},
	{"wlans_", []string{""}},
	{"create_args_", []string{""}},
	{"vlans_", []string{""}},
	{"autobridge_", []string{""}},
	{"dhclient_flags_", []string{""}},
	{"background_dhclient_", []string{""}},
	{"wpa_supplicant_flags_", []string{""}},
	{"ipv6_prefix_", []string{""}},
	{"sppp_", []string{""}},
}

// foldInterface replaces the interface in an rc.conf variable by IF.
func foldInterface(name string) (string, bool) {
	for _, v := range interfaceVariables {
		rest, ok := strings.CutPrefix(name, v.prefix)
		if !ok || rest == "" {
			continue
		}
		for _, suffix := range slices.Backward(v.suffixes) {
			ifname, ok := strings.CutSuffix(rest, suffix)
			if ok && isInterface(ifname) {
				return v.prefix + "IF" + suffix, true
			}
		}
	}
	return "", false
}

// isInterface reports a driver's name with a unit, and maybe a VLAN: igb0,
// em0_100 (em0.100 in rc.conf).
func isInterface(s string) bool {
	base, _, _ := strings.Cut(s, "_")
	stem := strings.TrimRight(base, "0123456789")
	return stem != "" && stem != base && !strings.ContainsAny(stem, ".=")
}
