package linux

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/fact"
)

// Limits is the prefix of names of limits.conf(5) lines: limits.conf/nofile.
const Limits = "limits.conf/"

// ReadLimits reads the limits on open files, processes and locked memory that pam_limits sets at
// login: limits.conf, then limits.d in name order. Lines for several users are listed side by side
// and do not override each other. Soft limits alone are ignored, but a soft limit above the hard
// one is lowered to it.
func ReadLimits(files fact.Files) Config {
	var c Config
	soft, hard := map[string]fact.Line{}, map[string]string{}
	for p, text := range fact.Texts(files, append([]string{"/etc/security/limits.conf"}, dropIns(files, ".conf", "/etc/security/limits.d")...)...) {
		for i, raw := range fact.Lines(text) {
			code, _, _ := strings.Cut(raw, "#")
			w := strings.Fields(code)
			if len(w) != 4 || !slices.Contains([]string{"nofile", "nproc", "memlock"}, w[2]) {
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
		if softAbove(l.Value+":"+hard[of]) && !strings.Contains(of, "REDACTED") { // their names may differ
			c.Problems = append(c.Problems, fact.Problem{File: l.File, Line: l.Number, Text: l.Text, Kind: fact.ProblemSlip, Message: "limits-soft"})
		}
	}
	return c
}
