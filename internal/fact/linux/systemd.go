package linux

import (
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// entry is one line of an INI file with its section.
type entry struct {
	section, key, value, text string
	number, of                int // its line, and the line of its section
}

// ini parses the format shared by systemd, NetworkManager and TuneD.
func ini(text string) []entry {
	var all []entry
	section, of := "", 0
	for i, raw := range fact.Lines(text) {
		s := strings.TrimSpace(raw)
		if s == "" || s[0] == '#' || s[0] == ';' {
			continue
		}
		if s[0] == '[' && strings.HasSuffix(s, "]") {
			section, of = s[1:len(s)-1], i+1
			continue
		}
		if key, value, ok := strings.Cut(s, "="); ok && len(all) < fact.MaxLines {
			all = append(all, entry{section, strings.TrimSpace(key), strings.TrimSpace(value), raw, i + 1, of})
		}
	}
	return all
}

var networkDirs = []string{"/etc/systemd/network", "/run/systemd/network", "/usr/local/lib/systemd/network", "/usr/lib/systemd/network", "/lib/systemd/network"}

// ReadLinkFiles reads systemd.link(5): when a device appears, udev applies the first file, in name
// order, that matches it. Names are systemd.link.<file>.<key>.
func ReadLinkFiles(files fact.Files) Config {
	var c Config
	catchAll := false // a file that matches all devices was read
	for p, text := range fact.Texts(files, dropIns(files, ".link", networkDirs...)...) {
		note, entries := "", ini(text)
		if driver := valueIn(entries, "Match", "Driver"); driver != "" {
			note = "driver " + driver
		}
		if catchAll {
			note = NeverMatched
		}
		devices := linkDevices(entries)
		for _, e := range entries {
			if e.section == "Link" {
				stem := strings.ReplaceAll(strings.TrimSuffix(path.Base(p), path.Ext(p)), ".", "_")
				c.add(p, e.number, e.text, fact.Udev, note, assignment{"systemd.link." + stem + "." + e.key, e.value})
			}
			if e.section == "Link" && !catchAll && len(c.Lines) > 0 {
				for _, device := range devices {
					c.ask(device, linkFeatures[e.key], c.Lines[len(c.Lines)-1])
				}
			}
		}
		catchAll = catchAll || matchesAll(entries)
	}
	for i := range c.Lines {
		c.Lines[i].Effective = c.Lines[i].Note != NeverMatched
	}
	return c
}

// NeverMatched is the note for lines of a .link file after one that matches every device.
const NeverMatched = "an earlier .link file matches every device"

// matchesAll reports whether [Match] matches every device, as in 99-default.link.
func matchesAll(entries []entry) bool {
	return valueIn(entries, "Match", "OriginalName") == "*" && !slices.ContainsFunc(entries, func(e entry) bool {
		return e.section == "Match" && (e.key != "OriginalName" || e.value != "*")
	})
}

var onOff = map[string]string{"yes": "1", "true": "1", "on": "1", "1": "1", "no": "0", "false": "0", "off": "0", "0": "0"}

// ReadNetworkFiles reads the parts of systemd.network(5) and networkd.conf(5) with which networkd
// writes sysctls, after sysctl.d: for interfaces that a file names without a pattern.
func ReadNetworkFiles(files fact.Files) Config {
	var c Config
	taken := map[string]bool{} // the first file that matches an interface is applied, and no other
	for p, text := range fact.Texts(files, dropIns(files, ".network", networkDirs...)...) {
		c.networkFile(p, ini(text), taken)
	}
	for p, text := range fact.Texts(files, dropIns(files, ".netdev", networkDirs...)...) {
		c.netdev(p, ini(text))
	}
	for p, text := range fact.Texts(files, append([]string{"/etc/systemd/networkd.conf"}, dropIns(files, ".conf", "/etc/systemd/networkd.conf.d")...)...) {
		for _, e := range ini(text) {
			if e.section == "Network" && (strings.HasSuffix(e.key, "Forwarding") || e.key == "IPv6PrivacyExtensions") {
				c.networkEntry(p, e, "all")
			}
		}
	}
	return c
}

// netdev reads the MTU of a device that networkd creates.
func (c *Config) netdev(p string, entries []entry) {
	name := valueIn(entries, "NetDev", "Name")
	for _, e := range entries {
		if validName(name) && e.section == "NetDev" && e.key == "MTUBytes" {
			c.add(p, e.number, e.text, fact.Networkd, "", assignment{"link." + name + ".mtu", e.value})
		}
	}
}

func (c *Config) networkFile(p string, entries []entry, taken map[string]bool) {
	names := matchedNames(entries, "Name")
	links := list.Filter(names, func(n string) bool { return !taken[n] })
	if len(names) == 0 {
		links = []string{""} // host-wide settings apply anyway
	}
	for _, n := range names {
		taken[n] = taken[n] || !slices.ContainsFunc(entries, func(e entry) bool { return e.section == "Match" && e.key != "Name" })
	}
	for _, e := range entries {
		if e.section != "Network" && e.section != "Link" {
			continue
		}
		for i, link := range links {
			if i > 0 && e.key == "IPForward" { // host-wide, once
				break
			}
			c.networkEntry(p, e, strings.ReplaceAll(link, ".", "/"))
		}
	}
}

func (c *Config) networkEntry(p string, e entry, link string) {
	value := strings.ToLower(e.value)
	if e.section == "Network" && e.key == "VLAN" && validName(e.value) {
		c.NICs = append(c.NICs, fact.NIC{Name: e.value, Kind: fact.KindVLAN, Parent: link})
	}
	for _, row := range list.Table(wordsText, "network") {
		to := map[bool]string{true: value, false: standsFor(row[2], value)}[row[2] == "-"]
		if row[0] == e.key && to != "" && (link != "" || !strings.Contains(row[1], "%s")) {
			c.add(p, e.number, e.text, fact.Networkd, "", assignment{strings.ReplaceAll(row[1], "%s", link), to})
		}
	}
}

// standsFor returns the value for a word in pairs of the form "word=value".
func standsFor(pairs, word string) string {
	for pair := range strings.FieldsSeq(pairs) {
		if value, ok := strings.CutPrefix(pair, word+"="); ok {
			return value
		}
	}
	return ""
}
