package tunable_test

import (
	"strings"
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/sharedtest"
	"linerate/internal/tunable"
)

// table reads a file of tab-separated values with a header.
func table(t *testing.T, dir, name string) []map[string]string {
	t.Helper()
	all := lines(t, dir, name)
	head := strings.Split(all[0], "\t")
	var rows []map[string]string
	for _, l := range all[1:] {
		row := map[string]string{}
		for i, v := range strings.Split(l, "\t") {
			if i < len(head) {
				row[head[i]] = strings.TrimSpace(v)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// TestEveryLineOfTheGuide: each setting of the guide has a record and a claim
// with the guide's value.
func TestEveryLineOfTheGuide(t *testing.T) {
	dir := sharedtest.Dir(t, "data")
	c := load(t)
	for _, row := range table(t, dir, "guide_tunables.tsv") {
		r, ok := c.Lookup(tunable.FreeBSD, row["name"])
		if !ok {
			t.Errorf("%s: no record", row["name"])
			continue
		}
		found := false
		for _, cl := range c.ClaimsOn(r) {
			found = found || cl.Source == "guide" && (cl.Value == strings.ReplaceAll(row["guide_value"], `\"`, `"`))
		}
		if !found {
			t.Errorf("%s: no claim that sets %q", row["name"], row["guide_value"])
		}
	}
}

// accesses maps each kind of declaration to when it can be set.
var accesses = map[string]tunable.Settable{
	"RDTUN": tunable.Boot, "TUN": tunable.Boot, "RWTUN": tunable.BootRuntime, "RW": tunable.Runtime, "RD": tunable.ReadOnly,
}

// newer are names that the facts have from releases after 14.3.
var newer = map[string]string{
	"net.pf.udpendpoint_hashsize": "15.0", "kern.random.nist_healthtest_enabled": "15.0", "net.iflib.prefer_mpring": "16.0",
	"net.inet.tcp.msl_local": "15.0",
}

// TestAgainstCheckedFacts compares the records with facts that were read independently from the
// kernels' declarations.
func TestAgainstCheckedFacts(t *testing.T) {
	dir := sharedtest.Dir(t, "data")
	c := load(t)
	checked := 0
	for _, file := range []string{"freebsd_facts_guide.tsv", "freebsd_facts_extra.tsv"} {
		for _, row := range table(t, dir, file) {
			name := row["name"]
			r, ok := c.Lookup(tunable.FreeBSD, name)
			if !ok {
				t.Errorf("%s: no record", name)
				continue
			}
			rel := "14.3"
			if newer[name] != "" {
				rel = newer[name]
			}
			s := r.At(release.MustParse(rel))
			if exists := row["exists_in_read_version"]; exists != "unknown" && s.Exists != (exists == "yes") {
				t.Errorf("%s on %s: exists %v, facts %s", name, rel, s.Exists, exists)
				continue
			}
			want, ok := accesses[row["access"]]
			if !s.Exists || !ok {
				continue
			}
			checked++
			if s.Settable != want {
				t.Errorf("%s on %s: settable %s, facts %s", name, rel, s.Settable, row["access"])
			}
			if v := row["vnet"]; (v == "0" || v == "1") && (s.Scope == tunable.VNET) != (v == "1") {
				t.Errorf("%s on %s: scope %s, facts vnet %s", name, rel, s.Scope, v)
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d names checked", checked)
	}
	t.Logf("%d names checked", checked)
}
