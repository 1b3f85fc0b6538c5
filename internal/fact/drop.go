package fact

import (
	_ "embed" // drops.txt
	"strings"
	"sync"

	"linerate/internal/list"
)

// Drop is a counter of losses, with the place on a packet's path where they occur.
type Drop struct {
	// Where is the place: NIC, driver, netisr, firewall, IP, socket, …
	Where string `json:"where"`
	// Counter is the Counter's name.
	Counter string `json:"counter"`
	Value   uint64 `json:"value"`
	// Meaning describes in one line what the kernel counts there.
	Meaning string `json:"meaning"`
}

// dropsText lists the counters of losses.
//
//go:embed drops.txt
var dropsText string

// dropPlaces are its rows: pattern, place and meaning.
var dropPlaces = sync.OnceValue(func() [][]string { return list.Rows(dropsText) })

// notLoss lists counters that match those patterns but do not count losses: packets that pf
// matched, and the allocator's own caches, which may fail harmlessly.
var notLoss = map[string]bool{"pf.counter.match": true, "zone.vmem_btag.failures": true}

// Drops returns the non-zero counters of losses, in the order of a packet's path.
func (f *Facts) Drops() []Drop {
	drops := []Drop{}
	for _, p := range dropPlaces() {
		for _, c := range f.Counters {
			harmless := notLoss[c.Name] || strings.HasPrefix(c.Name, "zone.") && strings.Contains(c.Name, "_Bucket.")
			if c.Value > 0 && !harmless && matches(p[0], c.Name) {
				drops = append(drops, Drop{Where: p[1], Counter: c.Name, Value: c.Value, Meaning: p[2]})
			}
		}
	}
	return drops
}

// matches matches a counter's name with a pattern. An interface's name may contain a dot
// (igb0.100), so * matches anything between the fixed parts.
func matches(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	return len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}
