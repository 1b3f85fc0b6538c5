package plan_test

import (
	"strings"
	"testing"
)

// TestMaskedValuesAreNotCompared: two masked values may differ, so neither line goes; and a masked line cannot be cut by its text.
func TestMaskedValuesAreNotCompared(t *testing.T) {
	b := newBench(t, "linux", "6.1", "endpoint")
	p := b.fixes(t, tree{"/etc/sysctl.conf": "kernel.core_pattern=/var/a/core.%p\nkernel.core_pattern=/var/b/core.%p\nnet.core.somaxconn=8192\nnet.core.somaxconn=8192\n"})
	if len(p.Decide) != 1 || p.Decide[0].Name != "kernel.core_pattern" || !strings.Contains(p.Decide[0].Reason, "may disagree") {
		t.Errorf("decide: %+v", p.Decide)
	}
	if cuts := p.Cuts(); len(cuts) != 1 || cuts[0].Name != "net.core.somaxconn" {
		t.Errorf("cuts: %+v", cuts)
	}
	b = newBench(t, "freebsd", "14.3", "endpoint")
	files := tree{"/etc/rc.conf": "hostname=\"fw1\"\n", "/boot/loader.conf": "hostname=\"secretbox\"\nkern.corefile=\"/var/a/%N.core\"\n", "/etc/sysctl.conf": "kern.corefile=/var/b/%N.core\n"}
	if p := b.fixes(t, files); len(p.Cuts()) != 0 || len(p.Remove) != 1 || p.Remove[0].Name != "hostname" {
		t.Errorf("cuts %+v, remove %+v", p.Cuts(), p.Remove)
	}
}

// TestSafeDefaultsStay: lines that keep a service or an attack's way closed are kept though they are the default.
func TestSafeDefaultsStay(t *testing.T) {
	files := tree{"/etc/rc.conf": "sshd_enable=\"NO\"\npf_enable=\"NO\"\nfirewall_enable=\"NO\"\ngateway_enable=\"NO\"\naccept_sourceroute=\"NO\"\nforward_sourceroute=\"NO\"\nsyslogd_flags=\"-s\"\nclear_tmp_enable=\"NO\"\n"}
	if cuts := newBench(t, "freebsd", "14.3", "endpoint").fixes(t, files).Cuts(); len(cuts) != 1 || cuts[0].Name != "clear_tmp_enable" {
		t.Errorf("%+v", cuts)
	}
	if cuts := newBench(t, "linux", "6.1", "endpoint").fixes(t, tree{"/etc/sysctl.conf": "vm.unprivileged_userfaultfd=0\n"}).Cuts(); len(cuts) != 0 {
		t.Errorf("%+v", cuts)
	}
}

// TestFixesSayWhatTheRecordKnows: a line with wrong advice is not moved as it is, and a module's parameter is no sysctl.
func TestFixesSayWhatTheRecordKnows(t *testing.T) {
	fix := func(os, rel string, files tree, id string) string {
		b := newBench(t, os, rel, "endpoint")
		r, err := b.judge(b.facts(t, files))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.PlainID() == id {
				return f.Fix
			}
		}
		return ""
	}
	if got := fix("freebsd", "14.3", tree{"/boot/loader.conf": "dev.igc.0.eee_control=0\n"}, "LR-MISPLACED:dev.igc.0.eee_control"); !strings.HasPrefix(got, "Decide what is wanted before moving it") {
		t.Error(got)
	}
	if got := fix("freebsd", "14.3", tree{"/boot/loader.conf": "dev.igc.0.eee_control=1\n"}, "LR-MISPLACED:dev.igc.0.eee_control"); strings.Contains(got, "Decide") {
		t.Error(got)
	}
	if got := fix("linux", "6.1", tree{"/etc/modprobe.d/c.conf": "options nf_conntrack hashsize=32768\n"}, "LR-LOWERS:module.nf_conntrack.hashsize"); !strings.Contains(got, "cat /sys/module/nf_conntrack/parameters/hashsize without") {
		t.Error(got)
	}
}
