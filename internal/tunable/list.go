package tunable

import (
	"slices"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// Entry is a record on one release, as `linerate catalogue --json`
// prints it.
type Entry struct {
	Name string `json:"name"`
	OS   string `json:"os"`
	// Exists is on the release asked for; without one, on the newest known.
	Exists   bool     `json:"exists"`
	Settable Settable `json:"settable"`
	Type     Type     `json:"type"`
	// Default is as `sysctl -n` prints it; the formula where
	// DefaultIsFormula; "" when there is none.
	Default          string            `json:"default"`
	DefaultIsFormula bool              `json:"default_is_formula"`
	Since            string            `json:"since"`
	RemovedIn        string            `json:"removed_in"`
	RenamedTo        string            `json:"renamed_to"`
	VNET             bool              `json:"vnet"`
	Scope            Scope             `json:"scope"`
	Mechanism        setting.Mechanism `json:"mechanism"`
	Concept          string            `json:"concept"`
}

// List is every record of an operating system ("" for all) on a release; a
// zero release is the newest known.
func (c *Catalogue) List(os string, rel release.Release) []Entry {
	entries := []Entry{}
	for _, r := range c.Records {
		if os != "" && r.OS != os {
			continue
		}
		for _, name := range append([]string{r.Name}, r.Instances...) {
			entries = append(entries, r.entry(name, rel))
		}
	}
	return entries
}

// Entry is the record on one release, under its own name.
func (r *Record) Entry(rel release.Release) Entry { return r.entry(r.Name, rel) }

// EntryAs is the record on one release, as the instance that was asked for
// (net.ipv4.conf.all.rp_filter) where it has one.
func (r *Record) EntryAs(asked string, rel release.Release) Entry {
	e := r.entry(r.InstanceOf(asked), rel)
	e.Name = r.Name
	return e
}

// InstanceOf is the instance that a name, however spelt, stands for; the
// record's name where it is none.
func (r *Record) InstanceOf(asked string) string {
	for _, name := range Folded(asked) {
		if slices.Contains(r.Instances, name) {
			return name
		}
	}
	return r.Name
}

func (r *Record) entry(name string, rel release.Release) Entry {
	s := r.At(rel)
	e := Entry{
		Name: name, OS: r.OS, Exists: s.Exists, Settable: s.Settable, Type: s.Type,
		DefaultIsFormula: s.IsFormula(), RenamedTo: r.RenamedTo, VNET: s.Scope == VNET,
		Scope: r.scopeOf(name, s), Mechanism: s.Mechanism, Concept: r.Concept, Since: r.Since.String(), RemovedIn: r.Removed.String(),
	}
	own, ok := r.InstanceDefaults[name]
	switch {
	case ok:
		e.Default, e.DefaultIsFormula = own, false
	case s.Default != nil:
		e.Default = *s.Default
	case s.Formula != "":
		e.Default = s.Formula
	}
	return e
}

// ScopeOn is what one value of a name governs on a release.
func (r *Record) ScopeOn(name string, rel release.Release) Scope {
	return r.scopeOf(r.InstanceOf(name), r.At(rel))
}

// scopeOf is the scope of one name of the record: conf.all and conf.default
// of a Linux device's setting are the namespace's; neigh.default is there in
// the initial namespace only.
func (r *Record) scopeOf(name string, s State) Scope {
	switch {
	case s.Scope == "":
		return Host
	case r.OS == Linux && s.Scope == Device && strings.Contains(name, ".neigh.default."):
		return Host
	case r.OS == Linux && s.Mechanism == setting.Sysctl && s.Scope == Device && name != r.Name:
		return NetNS
	}
	return s.Scope
}
