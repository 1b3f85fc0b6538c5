package lab

import (
	"strings"
	"testing"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// TestOfAnotherSystem: a variant with an os is not tried on another system's testbed.
func TestOfAnotherSystem(t *testing.T) {
	for _, c := range []struct {
		kind, os string
		refused  bool
	}{
		{testbed.KindNetns, "linux", false}, {testbed.KindNetns, "freebsd", true}, {testbed.KindNetns, "", false},
		{testbed.KindJails, "freebsd", false}, {testbed.KindJails, "linux", true}, {testbed.KindJails, "", false},
		{"machines", "linux", false},
	} {
		r := &Session{Lab: &Lab{}, mode: testbed.Cost}
		r.out.Testbeds = map[string]testbed.Description{string(testbed.Cost): {Kind: c.kind}}
		if why := r.Here().Why(study.Variant{OS: c.os}); strings.Contains(why, "needs a DUT of "+c.os) != c.refused {
			t.Errorf("a variant of %q on %s: %q, want refused %v", c.os, c.kind, why, c.refused)
		}
	}
}
