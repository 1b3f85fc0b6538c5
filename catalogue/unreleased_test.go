package catalogue_test

import (
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact/release"
)

// TestUnreleased: a host of unknown release is assumed not to run an unreleased one.
func TestUnreleased(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"net.inet.tcp.nolocaltimewait", "vfs.zfs.min_auto_ashift"} {
		r, ok := c.Lookup("freebsd", name)
		if !ok || !r.Exists(release.Release{}) || r.Exists(release.MustParse("16.0")) || !r.Exists(release.MustParse("15.0")) {
			t.Errorf("%s: %v, exists: %v without a release", name, ok, r.Exists(release.Release{}))
		}
	}
	if r, ok := c.Lookup("linux", "net.ipv4.tcp_tw_recycle"); !ok || r.Exists(release.Release{}) {
		t.Error("net.ipv4.tcp_tw_recycle exists without a release")
	}
}
