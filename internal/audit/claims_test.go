package audit_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
)

// TestEveryClaimIsAnswered: of every line of public folklore that is wrong or out
// of date the audit says something, as far as it is a sysctl's whole line.
func TestEveryClaimIsAnswered(t *testing.T) {
	c, _ := known(t)
	silent := []string{}
	asked := 0
	for _, row := range table(t, "linux_claims_shared.tsv") {
		name, value := row["name"], row["value"]
		if rec, ok := c.Lookup("linux", name); !ok || rec.Mechanism != "sysctl" || strings.ContainsAny(value, "-<>, ") || value == "" ||
			row["verdict"] != "wrong" && row["verdict"] != "stale" {
			continue
		}
		asked++
		r := run(t, tree(t, "6.18", map[string]string{"/etc/sysctl.d/x.conf": name + " = " + value}), "web")
		about := func(f audit.Finding) bool {
			return strings.HasPrefix(f.Name, name) || strings.Contains(f.Message, name)
		}
		if !slices.ContainsFunc(r.Findings, about) {
			silent = append(silent, row["id"]+" "+name+"="+value+" ("+row["reason"]+")")
		}
	}
	if asked < 25 {
		t.Errorf("only %d lines were asked about", asked)
	}
	if len(silent) > 0 {
		t.Errorf("of %d lines the audit is silent on %d:\n%s", asked, len(silent), strings.Join(silent, "\n"))
	}
}
