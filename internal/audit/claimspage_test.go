package audit_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/tunable"
)

// TestClaimsPage keeps the tables of the page on products' own advice in step with the
// claims.
func TestClaimsPage(t *testing.T) {
	const page = "../../docs/guide/routers-they-say.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	cat, _ := known(t)
	want := string(text)
	for _, name := range []string{"openwrt-forum", "vyos-docs", "proxmox-docs", "ceph-checklist", "truenas-forum", "pppoe-igc"} {
		src, ok := cat.ClaimSource(name)
		if !ok {
			t.Fatalf("no claims of %s", name)
		}
		want = replaceBlock(t, want, name, claimsTable(src))
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s is out of step with the claims; go test ./internal/audit -run TestClaimsPage -update", page)
	}
}

// claimsTable is a source's claims as the page has them.
func claimsTable(src tunable.Claims) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, %s).\n\n| setting | they say | we say | why |\n|---|---|---|---|\n", src.Title, src.Author, src.Date)
	for _, c := range src.Claims {
		fmt.Fprintf(&b, "| `%s` = %s | %s | %s | %s |\n", c.Name, c.Value, c.Says, c.Verdict, c.Truth)
	}
	return b.String()
}
