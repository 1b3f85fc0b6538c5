package netbenches

import (
	_ "embed"
	"maps"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed data/names.yaml
var namesYAML []byte

// names is data/names.yaml.
type names struct {
	RC       map[string]string
	Truth    []string
	Related  map[string][]string
	Defaults map[string]string
	Ignore   []string
	Drivers  map[string]string
	Controls []string
}

var loadNames = sync.OnceValue(func() *names {
	var n names
	if err := yaml.UnmarshalWithOptions(namesYAML, &n, yaml.Strict()); err != nil {
		panic("netbenches: data/names.yaml: " + err.Error()) // embedded: a test reads it
	}
	return &n
})

// ignored says that a setting is not a treatment.
func (n *names) ignored(name string) bool {
	return slices.ContainsFunc(n.Ignore, func(p string) bool { return matches(p, name) })
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// Tunable is the catalogue's name of an rc.conf variable, or the name itself.
func (n *names) tunable(rc string) string {
	if t, ok := n.RC[rc]; ok {
		return t
	}
	return rc
}

// related returns the other tunables that a change of that name involves.
func (n *names) related(name string) []string {
	var out []string
	for p, r := range n.Related {
		if matches(p, name) {
			out = append(out, r...)
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// driver is the driver of a NIC folder's name, "" if not known.
func (n *names) driver(nic string) string {
	for _, p := range slices.Sorted(maps.Keys(n.Drivers)) {
		if matches(strings.ToLower(p), strings.ToLower(nic)) {
			return n.Drivers[p]
		}
	}
	return ""
}

var deviceUnit = regexp.MustCompile(`^(dev\.[a-z][a-z0-9_]*)\.[0-9]+(\..+)$`)

// AnyUnit replaces the unit number of a device's sysctl by N, as the catalogue
// does: a configuration that sets it for every port means one tunable.
func AnyUnit(name string) string { return deviceUnit.ReplaceAllString(name, "${1}.N$2") }
