package fact

import (
	_ "embed" // drops.txt, traffic.txt
	"slices"
	"strconv"
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

// trafficText lists what the events of counters are a part of.
//
//go:embed traffic.txt
var trafficText string

// trafficRows are its rows: pattern, counters of traffic, share.
var trafficRows = sync.OnceValue(func() [][]string { return list.Rows(trafficText) })

// Traffic returns what a counter's events are a part of, and the share below which they are noise; 0 if not known.
func (f *Facts) Traffic(name string) (of, noise float64) {
	row, ok := list.Find(trafficRows(), func(row []string) bool { return matches(row[0], name) })
	if !ok {
		return 0, 0
	}
	before, after, _ := strings.Cut(row[0], "*")
	star := strings.TrimPrefix(name, before)
	star = strings.TrimSuffix(star, after)
	if after == "" {
		star = star[:max(0, strings.LastIndexByte(star, '.'))] // an interface's name may contain dots
	}
	for counter := range strings.FieldsSeq(row[1]) {
		c, _ := f.Counter(strings.ReplaceAll(counter, "*", star))
		of += float64(c.Value)
	}
	noise, _ = strconv.ParseFloat(row[2], 64)
	return of, noise
}

// Often reports whether the events of a counter, or of one that matches a pattern, matter: more than ten since boot,
// and more than one an hour and than their share that is noise, or one in a hundred.
func (f *Facts) Often(pattern string) bool {
	return slices.ContainsFunc(f.Counters, func(c Counter) bool {
		if c.Value <= 10 || !matches(pattern, c.Name) {
			return false
		}
		count := float64(c.Value)
		of, noise := f.Traffic(c.Name)
		return of > 0 && count > of/100 || count*3600 > f.UptimeSeconds && count > of*noise
	})
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
