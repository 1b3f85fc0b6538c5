package linux

import (
	_ "embed" // words.txt
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// wordsText has words of Linux's tools, and what they stand for.
//
//go:embed words.txt
var wordsText string

// features are ethtool's short names of what `ethtool -k` lists in full, linkFeatures the keys of
// systemd.link(5) that switch them.
var (
	features     = list.Pairs(wordsText, "feature")
	linkFeatures = list.Pairs(wordsText, "link")
)

// offload notes what a line "ethtool -K IF feature=on" asks of an interface.
func (c *Config) offload(l fact.Line) {
	rest, ok := strings.CutPrefix(l.Name, "ethtool -K ")
	link, feature, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || link == "*" || !l.Effective {
		return
	}
	if long := features[feature]; long != "" {
		feature = long
	}
	c.ask(link, feature, l)
}

// ask notes that a line switches a feature of an interface.
func (c *Config) ask(link, feature string, l fact.Line) {
	on, ok := onOff[strings.ToLower(l.Value)]
	if !ok || feature == "" || !validName(link) || len(c.NICs) >= fact.MaxNICs {
		return
	}
	if on == "0" {
		feature = "-" + feature
	}
	c.NICs = append(c.NICs, fact.NIC{Name: link, Kind: kindOf(link), Configured: []fact.Line{l}, ConfigFlags: []string{feature}})
}

// kindOf is what an interface's name tells where nothing else does: the names
// of udev and of the kernel (systemd.net-naming-scheme(7)).
func kindOf(name string) string {
	switch {
	case strings.ContainsAny(name, "./@:"):
		return fact.KindVLAN
	case strings.HasPrefix(name, "eth"), strings.HasPrefix(name, "en"):
		return fact.KindEthernet
	case strings.HasPrefix(name, "bond"), strings.HasPrefix(name, "team"):
		return fact.KindLAGG
	case strings.HasPrefix(name, "br"):
		return fact.KindBridge
	}
	return ""
}

// linkDevices are the interfaces that a .link file is about: the name that it gives, or
// those that it matches; none where it matches by anything else.
func linkDevices(entries []entry) []string {
	for _, e := range entries {
		if e.section == "Link" && e.key == "Name" {
			return []string{e.value}
		}
	}
	return matchedNames(entries, "OriginalName")
}

// matchedNames are the interfaces that a file's [Match] names by a key, without patterns.
func matchedNames(entries []entry, key string) []string {
	var names []string
	for _, e := range entries {
		if e.section != "Match" || e.key != key {
			continue
		}
		if e.value == "" || e.value[0] == '!' { // the list begins anew; all but those
			names = nil
			continue
		}
		for _, name := range strings.Fields(e.value) {
			if !strings.ContainsAny(name, "*?[,") && validName(name) && len(names) < fact.MaxNICs {
				names = append(names, name)
			}
		}
	}
	return names
}
