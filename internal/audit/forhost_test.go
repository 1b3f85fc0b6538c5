package audit

import (
	"math"
	"testing"

	"linerate/internal/fact/release"
)

// TestForHost: a rule's release range includes since and excludes until, and all rules apply to a
// host of unknown release.
func TestForHost(t *testing.T) {
	r := Rule{OS: "freebsd", Since: release.MustParse("13.0"), Until: release.MustParse("14.2"), Roles: []string{"!web"}}
	for _, c := range []struct {
		os, release, role string
		want              bool
	}{
		{"freebsd", "13.0", "router", true}, {"freebsd", "14.1", "router", true}, {"freebsd", "", "router", true},
		{"freebsd", "12.4", "router", false}, {"freebsd", "14.2", "router", false}, {"freebsd", "15.0", "router", false},
		{"linux", "13.0", "router", false}, {"freebsd", "13.0", "web", false},
	} {
		var rel release.Release
		if c.release != "" {
			rel = release.MustParse(c.release)
		}
		if got := r.forHost(c.os, rel, c.role); got != c.want {
			t.Errorf("a %s of %s %s: %v", c.role, c.os, c.release, got)
		}
	}
}

// TestHarvestOfNoMask: a value that is not a 32-bit mask disables no entropy source.
func TestHarvestOfNoMask(t *testing.T) {
	rel := release.MustParse("14.3")
	if got := harvest(rel, 1, false); len(got) == 0 {
		t.Error("a mask of one bit disables no entropy source")
	}
	for _, mask := range []float64{-1, 1 - math.Exp2(32), math.Exp2(32) + 1} {
		if got := harvest(rel, mask, false); len(got) > 0 {
			t.Errorf("%v, which is not a mask, disables %v", mask, got)
		}
	}
}
