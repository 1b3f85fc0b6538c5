package linux

import (
	"strings"

	"linerate/internal/fact"
)

// unitDirs are those of units that are the host's own: what packages bring below
// /usr/lib is not looked at.
var unitDirs = []string{"/etc/systemd/system", "/run/systemd/system"}

// ReadUnits reads what units of services and their drop-ins in /etc and /run say of
// open files, and system.conf of those of all. Of each service the last word alone is
// given, its hard limit: systemd/<unit>/LimitNOFILE, systemd/system.conf/DefaultLimitNOFILE.
func ReadUnits(files Files) Config {
	var c Config
	conf := append([]string{"/etc/systemd/system.conf"}, dropIns(files, ".conf", "/etc/systemd/system.conf.d", "/run/systemd/system.conf.d")...)
	c.openFiles(files, "system.conf", "Manager", "DefaultLimitNOFILE", conf)
	seen := map[string]bool{}
	for _, dir := range unitDirs {
		names, err := files.List(dir)
		if err != nil {
			continue
		}
		for _, n := range names {
			unit := strings.TrimSuffix(n, ".d")
			if !strings.HasSuffix(unit, ".service") || seen[unit] || len(seen) >= maxUnits {
				continue
			}
			seen[unit] = true
			paths := []string{}
			var drops []string
			for _, d := range unitDirs {
				paths, drops = append(paths, d+"/"+unit), append(drops, d+"/"+unit+".d")
			}
			c.openFiles(files, unit, "Service", "LimitNOFILE", append(paths, dropIns(files, ".conf", drops...)...))
		}
	}
	return c
}

// maxUnits bounds the services of one host.
const maxUnits = 4000

// openFiles adds the last line of these files that sets the key.
func (c *Config) openFiles(files Files, unit, section, key string, paths []string) {
	var last fact.Line
	for _, p := range paths {
		text, err := files.Read(p)
		if err != nil {
			continue
		}
		for _, e := range ini(text) {
			if e.section != section || e.key != key {
				continue
			}
			_, hard, both := strings.Cut(e.value, ":")
			if !both {
				hard = e.value
			}
			last = fact.Line{File: p, Number: e.number, Text: e.text, Name: "systemd/" + unit + "/" + key, Value: hard, Stage: fact.Field, Effective: true, Default: shipped(p)}
		}
	}
	if last.Value != "" && len(c.Lines) < maxLines {
		last.Order = len(c.Lines) + 1
		c.Lines = append(c.Lines, last)
	}
}
