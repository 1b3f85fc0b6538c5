package audit_test

import (
	"context"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
)

// ofFiles audits files as those of a separate host.
func ofFiles(t *testing.T, role, os, rel string, files map[string]string) *audit.Report {
	t.Helper()
	all := map[string][]byte{}
	for p, text := range files {
		all[p] = []byte(text)
	}
	f, err := inspect.Host(context.Background(), filehost.New(all, os), inspect.Options{Release: release.MustParse(rel), OS: os})
	if err != nil {
		t.Fatal(err)
	}
	return run(t, f, role)
}

func sense(product string, items ...string) string {
	var b strings.Builder
	b.WriteString("<" + product + ">\n<sysctl>\n")
	for _, i := range items {
		name, value, _ := strings.Cut(i, "=")
		b.WriteString("<item>\n<tunable>" + name + "</tunable>\n<value>" + value + "</value>\n</item>\n")
	}
	b.WriteString("</sysctl>\n</" + product + ">\n")
	return b.String()
}

// TestEarlyModules: OpenWrt loads nf_conntrack before it applies sysctls.
func TestEarlyModules(t *testing.T) {
	for release, late := range map[string]bool{"/etc/openwrt_release": false, "/etc/os-release": true} {
		r := ofFiles(t, "router", fact.Linux, "6.6", map[string]string{release: "DISTRIB_RELEASE='24.10.0'", "/etc/sysctl.conf": "net.netfilter.nf_conntrack_max=524288\n"})
		found := false
		for _, f := range r.Findings {
			found = found || strings.HasPrefix(f.ID, "LR-ORDER")
		}
		if found != late {
			t.Errorf("%s: late %v", release, found)
		}
	}
}

// TestProductPlaces: on an appliance, lines take effect only where the appliance reads them, its own
// defaults apply, and fixes use its terms.
func TestProductPlaces(t *testing.T) {
	const config = "/conf/config.xml"
	for _, c := range []struct {
		reading
		os, rel string
	}{
		{reading{note: "loader and sysctl by one list", role: "firewall", files: map[string]string{config: sense("opnsense", "hw.igb.max_interrupt_rate=8000", "net.inet.tcp.cc.algorithm=cubic", "machdep.hyperthreading_allowed=0")},
			want: []string{"!error", "!info LR-MISPLACED", "!warning LR-MISPLACED"}}, fact.FreeBSD, "25.1"},
		{reading{note: "not the base system's default", role: "firewall", files: map[string]string{config: sense("opnsense", "net.inet.ip.redirect=1", "kern.ipc.maxsockbuf=2097152")},
			want: []string{"!info LR-DEFAULT:net.inet.ip.redirect", "!info LR-DEFAULT:kern.ipc.maxsockbuf", "!warning LR-LOWERS"}}, fact.FreeBSD, "25.1"},
		{reading{note: "a default of both", role: "firewall", files: map[string]string{config: sense("opnsense", "net.inet.tcp.mssdflt=536")},
			want: []string{"info LR-DEFAULT:net.inet.tcp.mssdflt | Delete net.inet.tcp.mssdflt in System ▸ Settings ▸ Tunables and press Apply"}}, fact.FreeBSD, "25.1"},
		{reading{note: "gone", role: "firewall", files: map[string]string{config: sense("opnsense", "net.inet.ip.fastforwarding=1")},
			want: []string{"error LR-REMOVED:net.inet.ip.fastforwarding | skips it when it sets sysctls"}}, fact.FreeBSD, "25.1"},
		{reading{note: "pfSense's list is sysctl's alone", role: "firewall", files: map[string]string{config: sense("pfsense", "machdep.hyperthreading_allowed=0")},
			want: []string{"error LR-MISPLACED:machdep.hyperthreading_allowed | /boot/loader.conf.local (Diagnostics ▸ Edit File)"}}, fact.FreeBSD, "2.7.2"},
		{reading{note: "a tunnel by pfSense's own name has no offloads", role: "firewall", files: map[string]string{config: "<pfsense><interfaces><wan><if>igb0</if></wan><opt1><if>tun_wg0</if></opt1><opt2><if>l2tp1</if></opt2></interfaces></pfsense>"},
			want: []string{"info LR-LRO-FORWARDING:igb0", "!LR-LRO-FORWARDING:tun_wg0", "!LR-LRO-FORWARDING:l2tp1"}}, fact.FreeBSD, "2.8.0"},
		{reading{note: "VyOS sets every interface with it", role: "router", files: map[string]string{"/config/config.boot": "set firewall global-options send-redirects 'disable'\nset firewall global-options receive-redirects 'enable'\nset system host-name a\n"},
			want: []string{"!LR-PERDEVICE"}}, fact.Linux, "1.5"},
		{reading{note: "but not from its list of tunables", role: "router", files: map[string]string{"/config/config.boot": "set system sysctl parameter net.ipv4.conf.all.send_redirects value '0'\nset system host-name a\n"},
			want: []string{"warning LR-PERDEVICE"}}, fact.Linux, "1.5"},
		{reading{note: "VyOS' words", role: "router", files: map[string]string{"/config/config.boot": "system {\n    sysctl {\n        parameter net.ipv4.tcp_tw_recycle {\n            value 1\n        }\n    }\n}\n"},
			want: []string{"error LR-REMOVED:net.ipv4.tcp_tw_recycle | In configuration mode, delete system sysctl parameter net.ipv4.tcp_tw_recycle and commit"}}, fact.Linux, "1.4"},
	} {
		c.hold(t, ofFiles(t, c.role, c.os, c.rel, c.files))
	}
}
