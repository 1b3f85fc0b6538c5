package tunable_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/sharedtest"
	"linerate/internal/tunable"
)

// plainNumber matches a default that is one number, whatever text follows.
var plainNumber = regexp.MustCompile(`^-?[0-9]+$`)

// TestAgainstLinuxFacts compares the Linux records with facts that were checked independently on
// 6.18: existence, scope, when it can be set, plain defaults, and the bounds of network settings.
func TestAgainstLinuxFacts(t *testing.T) {
	rows := table(t, sharedtest.Dir(t, "data"), "linux_facts_shared.tsv")
	entries := linuxEntries(t)
	c := load(t)
	for _, row := range rows {
		name := row["name"]
		e, ok := entries[name]
		if !ok {
			t.Errorf("%s: not in the catalogue", name)
			continue
		}
		exists := strings.HasPrefix(row["exists_on_6.18"], "yes")
		if e.Exists != exists {
			t.Errorf("%s: exists %v, facts %s", name, e.Exists, row["exists_on_6.18"])
		}
		if !exists || !strings.HasPrefix(name, "net.") {
			continue
		}
		if scope, _, _ := strings.Cut(row["scope"], " "); scope != string(e.Scope) {
			t.Errorf("%s: scope %s, facts %s", name, e.Scope, row["scope"])
		}
		if row["settable"] != string(e.Settable) && row["settable"] != "-" {
			t.Errorf("%s: settable %s, facts %s", name, e.Settable, row["settable"])
		}
		if d, _, _ := strings.Cut(row["default"], " "); plainNumber.MatchString(d) && !e.DefaultIsFormula &&
			!strings.HasPrefix(e.Default, d) {
			t.Errorf("%s: default %q, facts %q", name, e.Default, row["default"])
		}
		r, _ := c.Lookup(tunable.Linux, name)
		checkBound(t, name+" min", r.Constraints.Min, row["min"], r)
		checkBound(t, name+" max", r.Constraints.Max, row["max"], r)
	}
	t.Logf("%d names checked", len(rows))
}

// checkBound compares a bound if both have a number. The record may omit the bound that its integer
// type implies.
func checkBound(t *testing.T, what string, have *float64, fact string, r *tunable.Record) {
	t.Helper()
	want, err := strconv.ParseFloat(strings.Fields(fact + " -")[0], 64)
	if err != nil || have == nil || r.Constraints.Jiffies {
		return
	}
	if *have != want {
		t.Errorf("%s: %v, facts %s", what, *have, fact)
	}
}

func linuxEntries(t *testing.T) map[string]tunable.Entry {
	t.Helper()
	entries := map[string]tunable.Entry{}
	for _, e := range load(t).List(tunable.Linux, release.MustParse("6.18")) {
		entries[e.Name] = e
	}
	return entries
}

// TestExpectedLinuxNames: the catalogue has every name that a catalogue of Linux is expected to
// have.
func TestExpectedLinuxNames(t *testing.T) {
	names := lines(t, sharedtest.Dir(t, "data"), "linux_names_extra.txt")
	c := load(t)
	for _, name := range names {
		if _, ok := c.Lookup(tunable.Linux, name); !ok {
			t.Errorf("%s: no record", name)
		}
	}
	t.Logf("%d names found", len(names))
}

// TestLinuxClaims: every line of folklore about net.* has a claim with the verdict of an
// independent check.
func TestLinuxClaims(t *testing.T) {
	rows := table(t, sharedtest.Dir(t, "data"), "linux_claims_shared.tsv")
	c := load(t)
	checked := 0
	for _, row := range rows {
		if !strings.HasPrefix(row["name"], "net.") {
			continue
		}
		checked++
		r, ok := c.Lookup(tunable.Linux, row["name"])
		if !ok {
			t.Errorf("%s: no record", row["name"])
			continue
		}
		value := strings.TrimPrefix(row["value"], "-")
		if row["value"] != "-" {
			value = row["value"]
		}
		agrees := slices.ContainsFunc(c.ClaimsOn(r), func(cl tunable.Claim) bool {
			return cl.Value == value && cl.Verdict == row["verdict"] && strings.Contains(cl.At, row["place"])
		})
		if !agrees {
			t.Errorf("%s %s: no claim %q at %s with the verdict %s", row["id"], row["name"], row["value"], row["place"], row["verdict"])
		}
	}
	t.Logf("%d claims checked", checked)
}
