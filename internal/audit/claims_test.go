package audit_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
)

// TestEveryClaimIsAnswered: the audit reports every line of public folklore that is wrong or out of
// date, as far as the line is a whole sysctl setting.
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
		t.Errorf("only %d lines were audited", asked)
	}
	if len(silent) > 0 {
		t.Errorf("of %d lines the audit reports nothing on %d:\n%s", asked, len(silent), strings.Join(silent, "\n"))
	}
}

// TestBenchmarksAreKept: on an endpoint the audit does not object to lines that a security benchmark
// requires, since a scanner fails hosts without them.
func TestBenchmarksAreKept(t *testing.T) {
	c, _ := known(t)
	kept := 0
	for _, set := range c.Claims {
		if set.Kind != "hardening" {
			continue
		}
		files := map[string]string{}
		for _, cl := range set.Claims {
			path := cmp.Or(map[string]string{"loader.conf": "/boot/loader.conf", "sysctl.conf": "/etc/sysctl.conf"}[cl.In], "/etc/sysctl.d/60-benchmark.conf")
			files[path] += cl.Name + "=" + cl.Value + "\n"
		}
		release := map[string]string{"freebsd": "14.3", "linux": "6.12"}[set.OS]
		r := run(t, tree(t, release, files), "endpoint")
		for _, f := range r.Findings {
			t.Errorf("%s: %s: %s", set.Source, f.ID, f.Message)
		}
		if r.Lines != len(set.Claims) || r.Coverage.SetKnown != len(set.Claims) {
			t.Errorf("%s: of %d lines %d were read, and %d names judged", set.Source, len(set.Claims), r.Lines, r.Coverage.SetKnown)
		}
		kept += len(set.Claims)
	}
	if kept < 40 {
		t.Errorf("only %d lines are of hardening guides", kept)
	}
}
