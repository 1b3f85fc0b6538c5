package appliance

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
)

// maxLooked is how many bytes of a text are used to recognise it.
const maxLooked = 1 << 20

// Recognise returns the product whose configuration a file is, from its name and text, and where
// the product keeps it. os, if known, excludes products of other systems.
func Recognise(name, text, os string) (p *Product, at string, ok bool) {
	products, err := Products()
	if err != nil {
		return nil, "", false
	}
	parts := strings.Split(path.Clean(name), "/")
	base := parts[len(parts)-1]
	long := strings.Join(parts[max(0, len(parts)-2):], "/")
	if strings.HasPrefix(text, "SQLite format 3\x00") {
		return database(text, os)
	}
	text = text[:min(len(text), maxLooked)]
	for _, p := range products {
		if p.Looks == nil || os != "" && os != p.OS {
			continue
		}
		named := slices.ContainsFunc(p.Names, func(n *regexp.Regexp) bool { return n.MatchString(base) || n.MatchString(long) })
		looks := len(p.Looks.FindAllStringIndex(text, enough))
		if looks >= enough || looks > 0 && (named || p.OS == fact.FreeBSD) {
			return p, p.file(base, text), true
		}
	}
	return nil, "", false
}

// enough is the number of lines that identify a configuration whatever its name.
const enough = 3

// database distinguishes TrueNAS' two systems by the names in the file.
func database(text, os string) (*Product, string, bool) {
	name := "truenas-scale"
	if os == fact.FreeBSD || os == "" && (strings.Contains(text, "kern.ipc.") || strings.Contains(text, "net.inet.") || strings.Contains(text, "vfs.zfs.") || strings.Contains(text, "kern.coredump")) {
		name = "truenas-core"
	}
	p := Named(name)
	return p, p.Configs[0], true
}

// uciFiles lists sections by which OpenWrt's files are recognised.
var uciFiles = []struct {
	section *regexp.Regexp
	file    string
}{
	{regexp.MustCompile(`(?m)^\s*config\s+'?(zone|forwarding|redirect|defaults)`), "firewall"},
	{regexp.MustCompile(`(?m)^\s*config\s+'?queue`), "sqm"},
	{regexp.MustCompile(`(?m)^\s*config\s+'?irqbalance`), "irqbalance"},
	{regexp.MustCompile(`(?m)^\s*config\s+'?(system|timeserver)`), "system"},
}

// file returns the path at which the product keeps a file with that name and text.
func (p *Product) file(base, text string) string {
	for _, c := range p.Configs {
		if path.Base(c) == base {
			return c
		}
	}
	if p.Name == "openwrt" {
		for _, u := range uciFiles {
			if u.section.MatchString(text) {
				return "/etc/config/" + u.file
			}
		}
	}
	return p.Configs[0]
}
