package appliance

import (
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/list"
)

// MemoryLimit is a limit of pf that grows with memory.
type MemoryLimit struct {
	Name string `yaml:"name" cbor:",omitzero"`
	// EachMiB is the limit per whole MiB of memory, between Least and Most if they are set.
	EachMiB uint64 `yaml:"each_mib" cbor:",omitzero"`
	Least   uint64 `yaml:"least" cbor:",omitzero"`
	Most    uint64 `yaml:"most" cbor:",omitzero"`
	// In is the part of the product that computes it.
	In string `yaml:"in" cbor:",omitzero"`
}

// Limit returns the limit that the product sets by itself on a host with the given bytes of memory,
// 0 if unknown.
func (l MemoryLimit) Limit(memory uint64) uint64 {
	if memory == 0 {
		return 0
	}
	v := max(memory>>20*l.EachMiB, l.Least)
	if l.Most > 0 {
		v = min(v, l.Most)
	}
	return v
}

// AddLimits adds the limits of pf that a host's product computes, for those that its user does not
// set, if the host's memory is known.
func AddLimits(f *fact.Facts) {
	p, pf := Of(f), f.Firewall.PF
	if p == nil || pf == nil {
		return
	}
	for _, l := range p.Limits {
		given := slices.ContainsFunc(pf.FileLimits, func(x fact.Limit) bool { return x.Name == l.Name })
		if v := l.Limit(f.Memory.Physical); v > 0 && !given {
			pf.FileLimits = append(pf.FileLimits, fact.Limit{Name: l.Name, Value: v, Text: p.Title + "'s own, by memory"})
		}
	}
}

// Node is a place in a product's tree that sets one tunable.
type Node struct {
	Name string `yaml:"name" cbor:",omitzero"`
	Node string `yaml:"node" cbor:",omitzero"`
	// Older is the node in releases before Since.
	Since string `yaml:"since" cbor:",omitzero"`
	Older string `yaml:"older" cbor:",omitzero"`
	// Enable and Disable are the tunable's values for the node's values enable and disable.
	Enable  string `yaml:"enable" cbor:",omitzero"`
	Disable string `yaml:"disable" cbor:",omitzero"`
	// Every means that with conf.all it also writes conf.default and each interface's own value.
	Every bool `yaml:"every" cbor:",omitzero"`
	// Default is the node's value unless its user sets it.
	Default string `yaml:"default" cbor:",omitzero"`
}

// At reports whether a line's place is the node, in any release.
func (n Node) At(place string) bool { return place == "set "+n.Node || place == "set "+n.Older }

// Value returns the tunable's value for the node's; "" if there is none.
func (n Node) Value(word string) string {
	if n.Enable == "" {
		return word
	}
	return map[string]string{"enable": n.Enable, "disable": n.Disable}[word]
}

// Word returns the node's value for the tunable's; "" if there is none.
func (n Node) Word(value string) string {
	switch {
	case n.Enable == "":
		return value
	case value == n.Enable:
		return "enable"
	case value == n.Disable:
		return "disable"
	}
	return ""
}

// In returns the node's path in a release of the product, by default the newest.
func (n Node) In(p *Product, version string) string {
	r, ok := p.ReleaseOf(version)
	if now, err := release.Parse(r.Release); ok && err == nil && n.Since != "" && now.Before(release.MustParse(n.Since)) {
		return n.Older
	}
	return n.Node
}

// PlaceOf returns where the product's user sets a tunable, or a limit of pf
// ("pf.conf:limit.states"), on a release of the product; byLoader means that only the loader can
// set it. It returns "" if the product has no place for it.
func (p *Product) PlaceOf(name, version string, byLoader bool) string {
	if limit, ok := strings.CutPrefix(name, "pf.conf:limit."); ok {
		n, _ := list.Find(pfNumbers, func(n pfNumber) bool { return n.limit == limit })
		return p.Fields[n.path]
	}
	if n, ok := p.NodeOf(name); ok {
		return "set " + n.In(p, version)
	}
	if byLoader && !p.Loader {
		return p.Instead["/boot/loader.conf.local"]
	}
	return p.Tunables
}

// NodeOf returns the node of a tunable.
func (p *Product) NodeOf(name string) (Node, bool) {
	return list.Find(p.Nodes, func(n Node) bool { return n.Name == name })
}
