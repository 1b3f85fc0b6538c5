package testbeds

import (
	"strings"
	"testing"

	"linerate/internal/host"
)

// TestOwner: who holds a testbed is one plain word, and names its record to people.
func TestOwner(t *testing.T) {
	a, b := OwnerOf("/srv/a/my redirects; $(x)"), OwnerOf("/srv/b/my redirects; $(x)")
	if a == b || !strings.Contains(a, "/myredirectsx/") {
		t.Errorf("%q and %q", a, b)
	}
	if err := host.CheckPiped("true", []string{a}); err != nil || strings.ContainsAny(a, " ;$()") {
		t.Errorf("%q is not a plain word: %v", a, err)
	}
}
