package tunable

import (
	"slices"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// Entry is a record on one release, in the format of `linerate catalogue --json`.
type Entry struct {
	Name string `json:"name"`
	OS   string `json:"os"`
	// Exists refers to the requested release, by default the newest known.
	Exists   bool     `json:"exists"`
	Settable Settable `json:"settable"`
	Type     Type     `json:"type"`
	// Default is the value as printed by `sysctl -n`, or a formula if DefaultIsFormula is set; ""
	// if there is none.
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

// List returns all records of an operating system ("" for all) on a release; a zero release means
// the newest known.
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

// Entry returns the record on a release, under its own name.
func (r *Record) Entry(rel release.Release) Entry { return r.entry(r.Name, rel) }

// EntryAs returns the record on a release, as the requested instance (net.ipv4.conf.all.rp_filter)
// if there is one.
func (r *Record) EntryAs(asked string, rel release.Release) Entry {
	e := r.entry(r.InstanceOf(asked), rel)
	e.Name = r.Name
	return e
}

// InstanceOf returns the instance for a name in any spelling, or the record's name if it is not an
// instance.
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

// ScopeOn returns the scope of a value of a name on a release.
func (r *Record) ScopeOn(name string, rel release.Release) Scope {
	return r.scopeOf(r.InstanceOf(name), r.At(rel))
}

// scopeOf returns the scope of one name of the record: for Linux device settings conf.all and
// conf.default belong to the namespace; neigh.default exists only in the initial namespace.
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
