package audit_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
)

const opnsensePage = "../../docs/guide/opnsense-list.md"

// TestOPNsensePage keeps the numbers of the page on the forum list in step with the
// audit, and every finding it cites true.
func TestOPNsensePage(t *testing.T) {
	list, err := os.ReadFile("testdata/lists/opnsense.txt")
	if err != nil {
		t.Fatal(err)
	}
	var items []string
	for line := range strings.Lines(string(list)) {
		if s := strings.TrimSpace(line); s != "" && s[0] != '#' {
			items = append(items, s)
		}
	}
	page, err := os.ReadFile(opnsensePage)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| OPNsense | errors | warnings | info | removed, renamed | unknown | misplaced | default | lowers default | harmful | ineffective | coupled | folklore | lines with nothing to say |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	var all []audit.Finding
	for _, rel := range []string{"22.7", "24.1", "25.1", "25.7", "26.7"} {
		r := ofFiles(t, "firewall", fact.FreeBSD, rel, map[string]string{"/conf/config.xml": sense("opnsense", items...)})
		fmt.Fprintf(&b, "| %s (FreeBSD %s) | %s |\n", rel, r.Release, counts(r))
		if strings.HasPrefix(rel, "25.") {
			all = append(all, r.Findings...)
		}
	}
	want := replaceBlock(t, string(page), "counts", b.String())
	if *update {
		if err := os.WriteFile(opnsensePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("the counts in %s are out of step; go test ./internal/audit -run TestOPNsensePage -update\nwant\n%s", opnsensePage, b.String())
	}
	for _, m := range regexp.MustCompile("`(LR-[A-Z]+[^`]*)`").FindAllStringSubmatch(string(page), -1) {
		if !slices.ContainsFunc(all, func(f audit.Finding) bool { return f.ID == m[1] }) {
			t.Errorf("%s cites %s, which no audit of the list on 25.1 or 25.7 finds", opnsensePage, m[1])
		}
	}
}
