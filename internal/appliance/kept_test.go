package appliance

import (
	"strings"
	"testing"

	"linerate/internal/fact/redact"
)

// TestWhatOfAppliancesIsKept: a configuration in the forms of public ones reads the same from what captures keep
// of it.
func TestWhatOfAppliancesIsKept(t *testing.T) {
	for what, c := range map[string]struct{ product, file, kind, text string }{
		"a list of numbers": {"opnsense", "/conf/config.xml", redact.Sense, "<opnsense><sysctl><item><tunable>dev.ax.0.iflib.override_nrxds</tunable><value>2048, 2048, 2048</value></item></sysctl></opnsense>"},
		"elements over lines": {"pfsense", "/conf/config.xml", redact.Sense,
			"<pfsense>\n<interfaces>\n<wan>\n<enable>\n</enable>\n<if>vmx0</if>\n<blockpriv>\n</blockpriv>\n<mtu>1500</mtu>\n</wan>\n<lan>\n<enable>\n</enable>\n<if>vmx1</if>\n</lan>\n</interfaces>\n</pfsense>"},
		"interfaces without numbers": {"opnsense", "/conf/config.xml", redact.Sense, "<opnsense><interfaces><wireguard><if>wireguard</if></wireguard><openvpn><if>openvpn</if></openvpn></interfaces></opnsense>"},
		"hardware's words":           {"pfsense", "/conf/config.xml", redact.Sense, "<pfsense><system><crypto_hardware>aesni_cryptodev</crypto_hardware></system></pfsense>"},
		"both families":              {"vyos", "/config/config.boot", redact.VyOS, "interfaces {\n    ethernet eth0 {\n        address dhcp\n    }\n    ethernet eth1 {\n        address dhcpv6\n        mtu 9000\n    }\n}\n"},
		"both families, set":         {"vyos", "/config/config.boot", redact.VyOS, "set interfaces ethernet eth0 address dhcp\nset interfaces ethernet eth0 address 'dhcpv6'\nset system host-name 'fw1'\n"},
		"offloads up to 1.3":         {"vyos", "/config/config.boot", redact.VyOS, "interfaces {\n    ethernet eth0 {\n        offload-options {\n            generic-receive off\n            tcp-segmentation on\n        }\n    }\n}\n"},
		"names of hosts":             {"vyos", "/config/config.boot", redact.VyOS, "system {\n    host-name fw1\n    sysctl {\n        parameter net.core.somaxconn {\n            value 4096\n        }\n    }\n}\n"},
		"OpenWrt's name":             {"openwrt", "/etc/config/system", redact.UCI, "config system\n\toption hostname 'gate'\n"},
		"tunnels":                    {"openwrt", "/etc/config/network", redact.UCI, "config interface 'wan'\n\toption device 'eth0'\nconfig interface 'lan'\n\toption ifname 'tun0'\n\toption mtu '1400'\n"},
		"TrueNAS":                    {"truenas-core", "/data/freenas-v1.db", redact.Database, "net.inet.tcp.recvspace\t65536\tsysctl\t1\nif_lagg_load\tYES\tloader\t1\n"},
	} {
		text, _ := redact.Text(c.kind, c.text)
		whole, left := read(t, c.product, c.file, c.text), read(t, c.product, c.file, text)
		for i := range whole.Lines {
			whole.Lines[i].Text = ""
		}
		for i := range left.Lines {
			left.Lines[i].Text = ""
		}
		t.Run(what, func(t *testing.T) { same(t, left, whole) })
	}
}

// TestBlocksOfCapturesClose: blocks with redacted names are closed where they were.
func TestBlocksOfCapturesClose(t *testing.T) {
	in := "system {\n    static-host-mapping {\n        host-name a.example.org {\n            inet 192.0.2.1\n        }\n    }\n    sysctl {\n        parameter net.core.somaxconn {\n            value 4096\n        }\n    }\n}\n" +
		"interfaces {\n    ethernet eth0 {\n        address 2001:db8::1/64\n        dhcp-options {\n            host-name b\n        }\n        mtu 9000\n    }\n}\n"
	text, _ := redact.Text(redact.VyOS, in)
	c := read(t, "vyos", "/config/config.boot", text)
	found := false
	for _, l := range c.Lines {
		found = found || l.Name == "net.core.somaxconn" && l.Value == "4096"
	}
	if !found || len(c.Problems) > 0 || len(c.NICs) != 1 || c.NICs[0].MTU != 9000 || c.NICs[0].IPv4 != 0 || c.NICs[0].IPv6 != 1 || c.Hostname != "" || strings.Contains(text, "db8") || strings.Contains(text, "example") {
		t.Errorf("%s\n%+v", text, c)
	}
}

// TestFlowAccountingOfCaptures: redacted lines below flow accounting do not count as separate nodes.
func TestFlowAccountingOfCaptures(t *testing.T) {
	text, _ := redact.Text(redact.VyOS, "system {\n    flow-accounting {\n        interface eth1\n        syslog-facility daemon\n    }\n}\n")
	for _, l := range read(t, "vyos", "/config/config.boot", text).Lines {
		if l.Name == "system/flow-accounting" {
			t.Errorf("%+v", l)
		}
	}
}

// TestTranslationsOfNothing: without <nat> nothing is translated; with it the product's own outbound rules are.
func TestTranslationsOfNothing(t *testing.T) {
	for text, want := range map[string]int{"": 0, "<nat/>": 1, "<nat><outbound><mode>disabled</mode></outbound></nat>": 0, "<nat><outbound><mode>hybrid</mode></outbound></nat>": 1} {
		if got := read(t, "opnsense", "/conf/config.xml", "<opnsense><filter/>"+text+"</opnsense>").PF.Translations; got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
