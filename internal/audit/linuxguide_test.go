package audit_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
)

const klaverPage = "../../docs/guide/klaver-on-linux-6.12.md"

// TestLinuxGuidePage keeps the page on a public Linux list in step with the
// audit: its counts, and every finding it cites.
func TestLinuxGuidePage(t *testing.T) {
	list, err := os.ReadFile("testdata/klaver-2011.conf")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(klaverPage)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"/etc/sysctl.d/klaver.conf": string(list)}
	var b strings.Builder
	b.WriteString("| release, role | errors | warnings | info | removed, renamed | unknown | misplaced | default | lowers default | harmful | ineffective | coupled | folklore | lines with nothing to say |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	var cited *audit.Report
	for _, rel := range []string{"5.10", "6.1", "6.12", "6.18"} {
		for _, role := range []string{"web", "router"} {
			r := run(t, tree(t, rel, files), role)
			if rel == "6.12" && role == "web" {
				cited = r
			}
			fmt.Fprintf(&b, "| %s %s | %s |\n", rel, role, counts(r))
		}
	}
	want := replaceBlock(t, string(page), "counts", b.String())
	if *update {
		if err := os.WriteFile(klaverPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("the counts in %s are out of step; go test ./internal/audit -run TestLinuxGuidePage -update\nwant\n%s", klaverPage, b.String())
	}
	for _, m := range regexp.MustCompile("`(LR-[A-Z]+[^`]*)`").FindAllStringSubmatch(string(page), -1) {
		if !slices.ContainsFunc(cited.Findings, func(f audit.Finding) bool { return f.ID == m[1] }) {
			t.Errorf("%s cites %s, which the audit on 6.12 does not find", klaverPage, m[1])
		}
	}
	if c := cited.Coverage; c.SetKnown != c.Set {
		t.Errorf("the catalogue knows %d of %d names", c.SetKnown, c.Set)
	}
}
