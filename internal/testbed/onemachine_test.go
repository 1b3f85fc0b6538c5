package testbed

import (
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/setting"
)

func TestPathOf(t *testing.T) {
	hop := func(n, over string) setting.Setting {
		return setting.Setting{Mechanism: setting.Hops, Name: over, Value: n}
	}
	other := setting.Setting{Mechanism: setting.Sysctl, Name: "a", Value: "1"}
	p, rest, err := PathOf([]setting.Setting{other, hop("3", "vlan"), other})
	if err != nil || p.Hops != 3 || p.Over != "vlan" || len(rest) != 2 {
		t.Errorf("%+v, %v, %v", p, rest, err)
	}
	if p, rest, err = PathOf(nil); err != nil || p.Hops != 0 || len(rest) != 0 {
		t.Errorf("no settings: %+v, %v, %v", p, rest, err)
	}
	for _, n := range []string{"0", "17", "-1", "", "x", "1.5"} {
		if p, _, err := PathOf([]setting.Setting{hop(n, "")}); err == nil || !strings.Contains(err.Error(), "number of hops") {
			t.Errorf("%q hops: %+v, %v", n, p, err)
		}
	}
}

// TestHopsAreApart: every link of the longest path has unique addresses, which are neither in the
// workload's networks nor those of another end.
func TestHopsAreApart(t *testing.T) {
	seen := map[string]string{}
	taken := func(what string, e WireEnd) {
		t.Helper()
		for _, name := range []string{e.IPv4.Addr().String(), e.IPv6.Addr().String()} {
			if was, twice := seen[name]; twice {
				t.Errorf("%s and %s have the same %s", was, what, name)
			}
			seen[name] = what
		}
	}
	for what, e := range map[string]WireEnd{"generator": GeneratorEnd, "ingress": IngressEnd, "egress": EgressEnd, "sink": ReceiverEnd} {
		taken(what, e)
	}
	macs := map[string]bool{}
	for i := range 16 {
		up, down := HopEnds(i, "next", "previous")
		if up.IPv4.Masked() != down.IPv4.Masked() || up.IPv6.Masked() != down.IPv6.Masked() {
			t.Errorf("link %d: %s and %s are not neighbours", i, up.IPv4, down.IPv4)
		}
		for what, e := range map[string]WireEnd{"up": up, "down": down, "beyond up": up.Beyond(), "beyond down": down.Beyond()} {
			taken(what+" of a hop", e)
			if e.IPv6.Masked() == GeneratorEnd.IPv6.Masked() || e.IPv6.Masked() == ReceiverEnd.IPv6.Masked() || netip.MustParsePrefix("198.19.0.0/16").Contains(e.IPv4.Addr()) {
				t.Errorf("link %d: %s or %s is in the workload's networks", i, e.IPv4, e.IPv6)
			}
		}
		for _, m := range []string{up.MAC.String(), down.MAC.String()} {
			if macs[m] {
				t.Errorf("%s is used twice", m)
			}
			macs[m] = true
		}
		if b := up.Beyond(); up.IPv4.Contains(b.IPv4.Addr()) || up.IPv6.Contains(b.IPv6.Addr()) {
			t.Errorf("link %d contains an address beyond it", i)
		}
	}
}
