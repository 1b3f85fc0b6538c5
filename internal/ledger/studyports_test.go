package ledger

import (
	"testing"

	"linerate/internal/fact"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/testbed"
)

// TestPorts: results over pairs of virtual interfaces are not attributed to the machine's network card.
func TestPorts(t *testing.T) {
	facts := []*fact.Facts{{NICs: []fact.NIC{{Kind: fact.KindEthernet, Driver: "vtnet"}}}}
	for _, c := range []struct{ kind, want string }{
		{testbed.KindNetns, "veth"}, {testbed.KindJails, "epair"}, {"ssh", "vtnet"},
	} {
		e := study.Environment{Testbeds: map[string]study.BedNotes{"cost": {Kind: c.kind}, "overload": {Kind: c.kind}}}
		if _, driver := ports(e, facts); driver != c.want {
			t.Errorf("%s: driver %q, want %q", c.kind, driver, c.want)
		}
	}
}

// TestRelease: the name that FreeBSD's kernel version begins with is not repeated.
func TestRelease(t *testing.T) {
	d := &ownStudy{rec: &record.Record{}, res: study.Results{Environment: study.Environment{OS: "freebsd", Kernel: "FreeBSD 14.0-STABLE #0: Sat"}}}
	d.environment()
	if got := d.b.Environments[0]; got.OS != "FreeBSD" || got.Release != "14.0-STABLE #0: Sat" {
		t.Errorf("%s %s", got.OS, got.Release)
	}
}
