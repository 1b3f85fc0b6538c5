package linux

import (
	"maps"
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
func ReadLimits(files fact.Files) Config {
	var c Config
	soft, hard := map[string]fact.Line{}, map[string]string{}
	for p, text := range fact.Texts(files, append([]string{"/etc/security/limits.conf"}, dropIns(files, ".conf", "/etc/security/limits.d")...)...) {
		for i, raw := range fact.Lines(text) {
			code, _, _ := strings.Cut(raw, "#")
			w := strings.Fields(code)
			if len(w) != 4 || !slices.Contains(limitItems, w[2]) {
				continue
			}
			l := fact.Line{File: p, Number: i + 1, Text: raw, Name: Limits + w[2], Value: w[3], Stage: fact.Field, Effective: true, Adds: true, Default: shipped(p)}
			if w[1] != "hard" {
				soft[w[0]+" "+w[2]] = l
			}
			if w[1] != "soft" {
				hard[w[0]+" "+w[2]] = w[3]
				c.addLine(l)
			}
		}
	}
	for _, of := range slices.Sorted(maps.Keys(soft)) {
		l := soft[of]
		if softAbove(l.Value+":"+hard[of]) && !strings.Contains(of, "REDACTED") { // whose names may be different
			c.Problems = append(c.Problems, fact.Problem{File: l.File, Line: l.Number, Text: l.Text, Kind: fact.ProblemSlip, Message: "limits-soft"})
		}
	}
	return c
}
