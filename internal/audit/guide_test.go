package audit_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/sharedtest"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs/guide")

// guideFiles extracts the three files from the guide's text.
func guideFiles(t testing.TB) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(sharedtest.Dir(t, "seeds"), "000_*.txt"))
	if err != nil || len(found) != 1 {
		t.Fatalf("no guide: %v %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	rest := string(text)
	for _, f := range []struct{ heading, path string }{
		{"\nThe /boot/loader.conf\n", "/boot/loader.conf"},
		{"\nThe /etc/sysctl.conf\n", "/etc/sysctl.conf"},
		{"\nOPTIONAL: Enable the Pf firewall", "/etc/rc.conf"},
	} {
		_, after, ok := strings.Cut(rest, f.heading)
		_, body, ok2 := strings.Cut(after, "\n#\n")
		body, tail, ok3 := strings.Cut(body, "\n### EOF ###")
		if !ok || !ok2 || !ok3 {
			t.Fatalf("no %s found in the guide", f.path)
		}
		files[f.path], rest = "#\n"+body, tail
	}
	return files
}

// table reads a TSV file of the captures as rows by column name.
func table(t testing.TB, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedtest.Dir(t, "data"), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, v := range row {
			m[rows[0][i]] = v
		}
		all = append(all, m)
	}
	return all
}

// TestGuideIsReadWhole: every active setting of the guide, according to an independent list, is
// among the facts' lines.
func TestGuideIsReadWhole(t *testing.T) {
	f := tree(t, "14.3", guideFiles(t))
	lines := f.Lines()
	for _, row := range table(t, "guide_tunables.tsv") {
		if row["active"] != "1" {
			continue
		}
		if !slices.ContainsFunc(lines, func(l fact.Line) bool { return l.Name == row["name"] && strings.HasSuffix(l.File, row["file"]) }) {
			t.Errorf("%s: %s=%s is not among the lines read", row["file"], row["name"], row["guide_value"])
		}
	}
}

// everything returns a tree that sets all names of the guide once, including commented-out ones.
func everything(t testing.TB) map[string]string {
	t.Helper()
	paths := map[string]string{"loader.conf": "/boot/loader.conf", "sysctl.conf": "/etc/sysctl.conf", "rc.conf": "/etc/rc.conf"}
	seen, files := map[string]bool{}, map[string]string{}
	for _, row := range table(t, "guide_tunables.tsv") {
		path, key := paths[row["file"]], row["file"]+row["name"]
		if path == "" || seen[key] {
			continue
		}
		seen[key] = true
		value := row["guide_value"]
		if row["file"] != "sysctl.conf" {
			value = fmt.Sprintf("%q", value)
		}
		files[path] += row["name"] + "=" + value + "\n"
	}
	return files
}

// TestGuideAgainstCheckedFacts compares the audit of everything the guide names with facts read on
// the same release.
func TestGuideAgainstCheckedFacts(t *testing.T) {
	facts := map[string]map[string]string{}
	for _, row := range table(t, "freebsd_facts_guide.tsv") {
		facts[row["name"]] = row
	}
	f := tree(t, "14.3", everything(t))
	r := run(t, f, "web")
	checked := 0
	for _, l := range f.Lines() {
		row, ok := facts[l.Name]
		if !ok || l.Stage == fact.RCConf {
			continue
		}
		found := on(r, l.File, l.Number)
		gone := hasKind(found, audit.Removed, audit.Renamed, audit.Unknown) && !slices.ContainsFunc(found, func(f audit.Finding) bool { return f.Rule() == "LR-NOMODULE" || f.Rule() == "LR-NOOPTION" })
		if slices.ContainsFunc(found, func(f audit.Finding) bool { return f.Rule() == "LR-NOOPTION" }) {
			continue // in the source, but not in a stock kernel
		}
		misplaced := hasKind(found, audit.Misplaced)
		checked++
		switch {
		case row["exists_in_read_version"] == "no" && !gone:
			t.Errorf("%s: %s: gone (%s), the audit says %s", l.File, l.Name, row["removed_or_renamed"], texts(found))
		case row["exists_in_read_version"] == "yes" && gone && !laterThan143(row):
			t.Errorf("%s: %s: exists (%s), the audit says %s", l.File, l.Name, row["note"], texts(found))
		case gone:
		case wrongFile(l.Stage, row["access"]) != misplaced:
			t.Errorf("%s: %s: access %s, misplaced %v: %s", l.File, l.Name, row["access"], misplaced, texts(found))
		}
	}
	t.Logf("%d lines checked", checked)
	if checked < 150 {
		t.Errorf("only %d lines were checked", checked)
	}
}

// laterThan143 reports names that the facts have from a newer release.
func laterThan143(row map[string]string) bool {
	return strings.Contains(row["note"], "15+") || strings.Contains(row["note"], "16-CURRENT only")
}

func wrongFile(m fact.Stage, access string) bool {
	switch access {
	case "RDTUN", "TUN":
		return m == fact.Sysctl
	case "RW":
		return m == fact.Loader
	case "RD":
		return true
	}
	return false
}

func texts(found []audit.Finding) string {
	var s []string
	for _, f := range found {
		s = append(s, f.ID+": "+f.Message)
	}
	return strings.Join(s, "; ")
}
