package plan

import (
	"strings"
	"testing"

	"linerate/internal/setting"
)

// TestNetworkSettings: settings of routes, policies and links become arguments of programs that run as
// root, so they are checked.
func TestNetworkSettings(t *testing.T) {
	route := func(name, value string) Step {
		return Step{Mechanism: setting.Route, Name: name, Value: value, Reason: "x", Where: Where{Runtime: true}}
	}
	policy := func(name, value string) Step {
		return Step{Mechanism: setting.NFT, Name: name, Value: value, Reason: "x", Where: Where{Runtime: true}}
	}
	state := func(value string) Step {
		return Step{Mechanism: setting.Link, Name: "state", Device: "eth0", Value: value, Reason: "x", Where: Where{Runtime: true}}
	}
	inFile := route("0.0.0.0/0", "absent")
	inFile.Where.File = LinuxSysctl
	for _, c := range []struct {
		set     Step
		os, why string // "" is valid
	}{
		{route("0.0.0.0/0", "via 198.18.0.1 dev eth0"), "linux", ""},
		{route("198.18.0.0/15", "absent"), "linux", ""},
		{route("2001:2::/48", "via 2001:2::1 dev eth0 onlink metric 5 proto static"), "linux", ""},
		{route("198.18.0.0/15", "via 198.18.0.1 dev eth0 onlink"), "linux", ""},
		{route("198.18.0.1/15", "absent"), "linux", "is not a prefix"},
		{route("default", "absent"), "linux", "is not a prefix"},
		{route("198.18.0.0/15", "via"), "linux", "is not a route"},
		{route("198.18.0.0/15", "via 198.18.0.1 table 7"), "linux", "is not a route"},
		{route("198.18.0.0/15", "via 198.18.0.1;reboot"), "linux", "is not a route"},
		{route("198.18.0.0/15", "via $(reboot)"), "linux", "is not a route"},
		{route("198.18.0.0/15", "dev -batch"), "linux", "is not a route"},
		{route("198.18.0.0/15", "-batch /etc/x"), "linux", "is not a route"},
		{route("198.18.0.0/15", ""), "linux", "is not a route"},
		{policy("inet/filter/input", "drop"), "linux", ""},
		{policy("ip6/a.b-c/x_1", "accept"), "linux", ""},
		{policy("inet/filter/input", "reject"), "linux", "accept or drop"},
		{policy("inet/filter", "drop"), "linux", "is not a chain"},
		{policy("inet/filter/input/x", "drop"), "linux", "is not a chain"},
		{policy("none/filter/input", "drop"), "linux", "is not a chain"},
		{policy("inet/fil;ter/input", "drop"), "linux", "is not one"},
		{policy("inet/filter/-f", "drop"), "linux", "is not a chain"},
		{state("up"), "linux", ""},
		{state("down"), "linux", ""},
		{state("sideways"), "linux", "up or down"},
		{state("up"), "freebsd", "cannot restore it exactly"},
		{route("0.0.0.0/0", "absent"), "freebsd", "cannot restore it exactly"},
		{inFile, "linux", "running host only"},
	} {
		err := c.set.check(c.os)
		if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s %q=%q on %s: %v, want %q", c.set.Mechanism, c.set.Name, c.set.Value, c.os, err, c.why)
		}
	}
}
