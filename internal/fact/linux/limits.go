package linux

import (
	"slices"
	"strings"

	"linerate/internal/fact"
)

// Limits begins the names of lines of limits.conf(5): limits.conf/nofile.
const Limits = "limits.conf/"

// limitItems are those of its items that are read.
var limitItems = []string{"nofile", "nproc", "memlock"}

// ReadLimits reads what pam_limits sets at a login of open files, processes and locked
// memory: limits.conf, then limits.d by name. Lines of several users stand side by
// side, none over another; soft limits alone are none of it: what is above the hard
// limit is lowered to that.
func ReadLimits(files Files) Config {
	var c Config
	for _, p := range append([]string{"/etc/security/limits.conf"}, dropIns(files, ".conf", "/etc/security/limits.d")...) {
		text, err := files.Read(p)
		if err != nil {
			continue
		}
		for i, raw := range fact.Lines(text) {
			code, _, _ := strings.Cut(raw, "#")
			w := strings.Fields(code)
			if len(w) != 4 || w[1] == "soft" || !slices.Contains(limitItems, w[2]) {
				continue
			}
			c.addLine(fact.Line{File: p, Number: i + 1, Text: raw, Name: Limits + w[2], Value: w[3], Stage: fact.Field, Effective: true, Adds: true, Default: shipped(p)})
		}
	}
	return c
}
