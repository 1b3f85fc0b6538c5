package linux

import (
	"strings"

	"linerate/internal/fact"
)

// OpenFiles is the name of the lines of limits.conf(5) that limit open files.
const OpenFiles = "limits.conf/nofile"

// ReadLimits reads what pam_limits sets of open files at a login: limits.conf, then
// limits.d by name. Lines of several users stand side by side, none over another; soft
// limits alone are none of it: what is above the hard limit is lowered to that.
func ReadLimits(files Files) Config {
	var c Config
	for _, p := range append([]string{"/etc/security/limits.conf"}, dropIns(files, ".conf", "/etc/security/limits.d")...) {
		text, err := files.Read(p)
		if err != nil {
			continue
		}
		for i, raw := range splitLines(text) {
			code, _, _ := strings.Cut(raw, "#")
			w := strings.Fields(code)
			if len(w) != 4 || w[2] != "nofile" || w[1] == "soft" || len(c.Lines) >= maxLines {
				continue
			}
			c.Lines = append(c.Lines, fact.Line{File: p, Number: i + 1, Text: raw, Name: OpenFiles, Value: w[3], Stage: fact.Field, Order: len(c.Lines) + 1, Effective: true, Default: shipped(p)})
		}
	}
	return c
}
