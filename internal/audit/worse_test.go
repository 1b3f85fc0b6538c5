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

// TestNeededOldDefault: an old default without which packets would pass unfiltered is no line to remove;
// another is.
func TestNeededOldDefault(t *testing.T) {
	const bridge = "ifconfig_bridge0=\"addm em0 addm em1 up\"\ncloned_interfaces=\"bridge0\"\nifconfig_em0=\"up\"\nifconfig_em1=\"up\"\npf_enable=\"YES\"\n"
	for line, want := range map[string]int{"net.inet.tcp.delacktime=100": 1, "net.link.bridge.pfil_member=1": 0} {
		r := run(t, tree(t, "14.1", map[string]string{"/etc/rc.conf": bridge, "/etc/pf.conf": "block in on em0 all\npass out all\n", "/etc/sysctl.conf": line + "\n"}), "web")
		if f := find(r, "LR-OLD-DEFAULT", ""); len(f) != want {
			t.Errorf("%s: %+v, want %d", line, f, want)
		}
	}
}

// TestReloadedByIPFW: rc.d/ipfw applies sysctl.conf behind its modules; for other modules nothing does before sysctl_lastload.
func TestReloadedByIPFW(t *testing.T) {
	for rc, want := range map[string]int{"firewall_enable=\"YES\"\nfirewall_type=\"open\"\n": 0, "kld_list=\"ipfw\"\n": 1} {
		r := run(t, tree(t, "14.1", map[string]string{"/etc/rc.conf": rc, "/boot/loader.conf": "", "/etc/sysctl.conf": "net.inet.ip.fw.one_pass=0\n"}), "firewall")
		if f := find(r, "LR-ORDER", ""); len(f) != want {
			t.Errorf("%q: %+v, want %d", rc, f, want)
		}
	}
}
