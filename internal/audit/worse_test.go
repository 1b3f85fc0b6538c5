package audit_test

import (
	"strings"
	"testing"

	"linerate/internal/audit"
)

// TestSecurelevelBeforeFilters: a raised securelevel is an error only where it prevents a packet
// filter or its rules from being loaded.
func TestSecurelevelBeforeFilters(t *testing.T) {
	for _, c := range []struct {
		level, rc, loader string
		want              audit.Severity
	}{
		{"1", "", "", audit.Warning},
		{"1", `pf_enable="YES"`, "", audit.Error},
		{"1", `pf_enable="YES"`, `pf_load="NO"`, audit.Error},
		{"1", `pf_enable="YES"`, `pf_load="yes"`, audit.Warning},
		{"2", `firewall_enable="YES"`, `ipfw_load="YES"`, audit.Warning},
		{"3", `firewall_enable="YES"`, `ipfw_load="YES"`, audit.Error},
	} {
		r := run(t, tree(t, "14.3", map[string]string{"/etc/sysctl.conf": "kern.securelevel=" + c.level, "/etc/rc.conf": c.rc, "/boot/loader.conf": c.loader}), "firewall")
		if f := find(r, "LR-SECURELEVEL-EARLY", ""); len(f) != 1 || f[0].Severity != c.want {
			t.Errorf("level %s, %s, %s: %+v, want one %s", c.level, c.rc, c.loader, f, c.want)
		}
	}
}

// TestFixOfCoupling: the fix states the relation that two numbers must have, not the rule's condition.
func TestFixOfCoupling(t *testing.T) {
	r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_max=9000000\nnet.netfilter.nf_conntrack_buckets=65536"}), "router")
	f := find(r, "LR-COUPLED", "")
	if len(f) != 1 || strings.Contains(f[0].Fix, "is_set") || !strings.Contains(f[0].Fix, "net.netfilter.nf_conntrack_max is at most 4 × net.netfilter.nf_conntrack_buckets") {
		t.Errorf("%+v", f)
	}
}
