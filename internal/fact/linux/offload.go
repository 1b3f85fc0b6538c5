package linux

import (
	_ "embed" // words.txt
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// wordsText maps words of Linux tools to their meaning.
//
//go:embed words.txt
var wordsText string

// features maps ethtool's short names to those in the output of `ethtool -k`, linkFeatures keys of
// systemd.link(5) to features.
var (
	features     = list.Pairs(wordsText, "feature")
	linkFeatures = list.Pairs(wordsText, "link")
)

// offload records the feature that a line "ethtool -K IF feature=on" switches.
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

// ask records that a line switches a feature of an interface.
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

// kindOf guesses an interface's kind from its name, by the schemes of udev and the kernel
// (systemd.net-naming-scheme(7)).
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

// linkDevices returns the interfaces that a .link file applies to: the name that it assigns, or
// those that it matches by name; none if it matches by anything else.
func linkDevices(entries []entry) []string {
	if name := valueIn(entries, "Link", "Name"); name != "" {
		return []string{name}
	}
	return matchedNames(entries, "OriginalName")
}

// matchedNames returns the interfaces that a key in a file's [Match] names, without patterns.
func matchedNames(entries []entry, key string) []string {
	var names []string
	for _, e := range entries {
		if e.section != "Match" || e.key != key {
			continue
		}
		if e.value == "" || e.value[0] == '!' { // the list is reset, or inverted
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
