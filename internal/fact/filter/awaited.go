package filter

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact/texts"
	"linerate/internal/list"
)

// Await is the first packet of somebody that a host's files say it waits for: a row of letin.txt.
type Await struct {
	Case, Service string // of LR-SLIP, and what waits, with its port
	Packet        Packet
}

// Awaited returns the packets that a host waits for, from the texts of its files.
func Awaited(files map[string]string) (all []Await) {
	names := slices.Sorted(maps.Keys(files))
	for _, row := range list.Rows(texts.Read("filter/letin.txt")) {
		for _, name := range names {
			if !slices.ContainsFunc(strings.Fields(row[2]), func(p string) bool { return list.Globs(p, name) }) {
				continue
			}
			said := regexp.MustCompile(row[3]).FindStringSubmatch(files[name])
			if said == nil || strings.Contains(files[name], "{{") || row[4] != "" && regexp.MustCompile(row[4]).MatchString(files[name]) {
				continue
			}
			p := Packet{Family: "4", In: Outside, SPort: "40000", State: "new", Status: "none"}
			for _, field := range strings.Fields(strings.ReplaceAll(row[5], "$1", strings.Join(said[1:], ""))) {
				key, value, _ := strings.Cut(field, "=")
				p[Field(key)] = value
			}
			all = append(all, Await{row[0], strings.TrimSpace(row[1] + " " + p[Proto] + " " + p[DPort]), p})
		}
	}
	return all
}
