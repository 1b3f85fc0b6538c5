package evidence

import (
	_ "embed" // likeness.yaml
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"linerate/internal/fact"
	"linerate/internal/stats"
)

//go:embed likeness.yaml
var likenessText []byte

// Group defines a degree of similarity between machines of studies and a host, and how
// much effects differ within the group.
type Group struct {
	Of string `yaml:"of"`
	// Same lists what must be equal: machine, release, driver, cpu, lab.
	Same []string `yaml:"same"`
	// Near is set if its studies can support a change on the host.
	Near   bool    `yaml:"near"`
	Share  float64 `yaml:"share"`
	Floor  float64 `yaml:"floor"`
	Reason string  `yaml:"reason"`
}

// likeness returns the groups, the most similar first, and the weight of their prior scatter.
var likeness = sync.OnceValue(func() (l struct {
	Weight float64 `yaml:"weight"`
	Groups []Group `yaml:"groups"`
}) {
	if err := yaml.UnmarshalWithOptions(likenessText, &l, yaml.Strict()); err != nil {
		panic("likeness.yaml: " + err.Error()) // it is part of the program, and a test parses it
	}
	return l
})

// between returns the prior scatter of a group, by name.
func between(of string) stats.Between {
	l := likeness()
	g := l.Groups[slices.IndexFunc(l.Groups, func(g Group) bool { return g.Of == of })]
	return stats.Between{Share: g.Share, Floor: g.Floor, Weight: l.Weight}
}

// Host is the machine for which evidence is weighed.
type Host struct {
	Facts   *fact.Facts
	Drivers []string // of its network interfaces
}

// group returns the similarity group of a verdict's machine. Without a host all are in the last one.
func (h *Host) group(r Row) Group {
	groups := likeness().Groups
	if h != nil && !strings.HasPrefix(r.Label, ByOthers) && strings.EqualFold(r.OS, h.Facts.OS) {
		for _, g := range groups[:len(groups)-1] {
			if !slices.ContainsFunc(g.Same, func(what string) bool { return !h.same(what, r.Subject) }) {
				return g
			}
		}
	}
	return groups[len(groups)-1]
}

// same reports whether a machine equals the host in one property.
func (h *Host) same(what string, s Subject) bool {
	switch what {
	case "machine":
		return s.MachineID != "" && (s.MachineID == h.Facts.MachineID || s.MachineID == h.Facts.Hostname && sameCPU(s.CPU, h.Facts.CPU.Model))
	case "release":
		return strings.HasPrefix(s.Release, fmt.Sprintf("%d.", h.Facts.Release.Major))
	case "driver":
		return s.Driver != "" && slices.Contains(h.Drivers, s.Driver)
	case "cpu":
		return sameCPU(s.CPU, h.Facts.CPU.Model)
	case "lab":
		return slices.Contains([]string{"", "veth", "epair"}, s.Driver)
	}
	return false
}

// sameCPU compares CPU models despite different spellings: all words of the shorter
// name must occur in the longer.
func sameCPU(a, b string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" (),@", r) })
	}
	x, y := words(a), words(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	return len(x) > 1 && !slices.ContainsFunc(x, func(w string) bool { return !slices.Contains(y, w) })
}
