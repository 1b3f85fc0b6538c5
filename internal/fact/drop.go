package fact

import (
	_ "embed" // drops.txt
	"strings"
	"sync"

	"linerate/internal/list"
)

// Drop is a counter that shows loss, and where on a packet's way it happens.
type Drop struct {
	// Where is the place: NIC, driver, netisr, firewall, IP, socket, …
	Where string `json:"where"`
	// Counter is the Counter's name.
	Counter string `json:"counter"`
	Value   uint64 `json:"value"`
	// Meaning says in one line what the kernel counts there.
	Meaning string `json:"meaning"`
}

// dropsText lists the counters that show loss.
//
//go:embed drops.txt
var dropsText string

// dropPlaces are its rows: a pattern, a place and a meaning.
var dropPlaces = sync.OnceValue(func() [][]string { return list.Rows(dropsText) })

// notLoss are counters under those patterns that count no loss: what pf
// matched, and the allocator's own caches, which may fail and do without.
var notLoss = map[string]bool{"pf.counter.match": true, "zone.vmem_btag.failures": true}

// Drops lists the counters that show loss and are not zero, in the order in
// which a packet meets their places.
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

// matches compares a counter's name with a pattern. An interface's name may
// hold a dot (igb0.100), so a star is what stands between the fixed parts.
func matches(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	return len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}
