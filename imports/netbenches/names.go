package netbenches

import (
	_ "embed"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"linerate/internal/lazy"
)

//go:embed data/names.yaml
var namesYAML []byte

// names is the content of data/names.yaml.
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
		panic("netbenches: data/names.yaml: " + err.Error()) // embedded, and read by a test
	}
	return &n
})

// ignored reports whether a setting does not count as a treatment.
func (n *names) ignored(name string) bool {
	return slices.ContainsFunc(n.Ignore, func(p string) bool { return matches(p, name) })
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// tunable returns the catalogue's name of an rc.conf variable, or the name itself.
func (n *names) tunable(rc string) string {
	if t, ok := n.RC[rc]; ok {
		return t
	}
	return rc
}

// related returns other tunables that are affected by a change of this one.
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

// driver returns the driver of a NIC folder, "" if unknown.
func (n *names) driver(nic string) string {
	for _, p := range slices.Sorted(maps.Keys(n.Drivers)) {
		if matches(strings.ToLower(p), strings.ToLower(nic)) {
			return n.Drivers[p]
		}
	}
	return ""
}

var deviceUnit = lazy.Regexp(`^(dev\.[a-z][a-z0-9_]*)\.[0-9]+(\..+)$`)

// AnyUnit replaces the unit number in a device's sysctl by N, as in the
// catalogue: a configuration that sets it for every port is about one tunable.
func AnyUnit(name string) string { return deviceUnit().ReplaceAllString(name, "${1}.N$2") }
