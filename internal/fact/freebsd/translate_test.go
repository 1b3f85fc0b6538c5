package freebsd

import (
	"slices"
	"strings"
	"testing"
)

// TestTranslations: what pf translates is compared with rc.conf's addresses and routes.
func TestTranslations(t *testing.T) {
	const static = "gateway_enable=\"YES\"\ndefaultrouter=\"203.0.113.1\"\nifconfig_em0=\"inet 203.0.113.2/24\"\nifconfig_em1=\"inet 192.168.1.1/24\"\n"
	const dhcp = "gateway_enable=\"YES\"\nifconfig_em0=\"DHCP\"\nifconfig_em1=\"inet 192.168.1.1 netmask 255.255.255.0\"\nstatic_routes=\"a b\"\nroute_a=\"-net 192.168.8.0/24 192.168.1.2\"\nroute_b=\"-net 10.9.0.0 -netmask 255.255.0.0 192.168.1.2\"\n"
	for _, c := range []struct{ rc, pf, want string }{
		{static, "int_if=\"em1\"\nnat on $int_if from $int_if:network to any -> ($int_if)\n", "nat-inside"},
		{static, "nat pass on em1 inet from 192.168.1.0/24 to any -> (em0)\n", "nat-inside"},
		{dhcp, "nat on em1 from any to any -> (em1)\n", "nat-inside"},
		{static, "nat on em0 from em1:network to any -> (em0)\n", ""},
		{static, "nat on egress from em1:network to any -> (egress)\nnat on em1 from any to 192.168.1.9 -> (em1)\n", ""},
		{static, "nat-anchor \"x/*\"\nnat on em1 from any to any -> (em1)\n", ""},
		{static + "openvpn_enable=\"YES\"\n", "nat on em1 from any to any -> (em1)\n", ""},

		{static, "nat on em0 inet from 192.168.10.0/24 to any -> (em0)\n", "nat-source"},
		{dhcp, "lan = \"10.0.0.0/24\"\nnat on em0 inet from $lan to any -> (em0)\n", "nat-source"},
		{dhcp, "nat on em0 from 10.9.0.0/16 to any -> (em0)\nnat on em0 from 192.168.0.0/16 to any -> (em0)\n", ""},
		{static, "nat on em0 from ! (em0) to any -> (em0)\nnat on em0 from 192.168.10.0/24 to any -> (em0)\n", ""},

		{static, "nat on em0 from em1:network to any -> 203.0.113.9\n", "nat-address"},
		{static, "binat on em0 from 192.168.1.5 to any -> 203.0.113.9\n", "nat-address"},
		{static, "rdr pass on em0 proto tcp from any to 203.0.113.9 port 25 -> 192.168.1.20\n", "nat-address"},
		{static + "ifconfig_em0_alias0=\"inet 203.0.113.9/32\"\n", "nat on em0 from em1:network to any -> 203.0.113.9\n", ""},
		{static, "nat on em0 from em1:network to any -> 198.51.100.9\n", ""},

		{static, "rdr on em0 proto tcp from any to (em0) port 443 -> 192.168.2.10\n", "nat-target"},
		{dhcp, "rdr pass on em0 proto tcp to port { 80 443 } -> 172.16.0.5 port 8080\n", "nat-target"},
		{dhcp, "rdr on em0 proto tcp to port 443 -> 192.168.8.10\nrdr on em0 proto tcp to port 25 -> 10.9.1.2\n", ""},
		{static, "rdr on em0 proto tcp to port 443 -> <servers> round-robin\n", ""},

		{static, "nat on em0 from em1:network to any -> (em0)\nrdr on em1 proto tcp to 203.0.113.2 port 443 -> 192.168.1.10\n", "nat-hairpin"},
		{static, "nat on em0 from em1:network to any -> (em0)\nrdr pass on em1 proto tcp to port 80 -> 192.168.1.10 port 3128\n", "nat-hairpin"},
		{static, "nat on em0 from em1:network to any -> (em0)\nno nat on em1 from em1 to any\nnat on em1 from em1:network to 192.168.1.10 -> em1\nrdr on em1 proto tcp to 203.0.113.2 port 443 -> 192.168.1.10\n", ""},
		{static, "nat on em0 from em1:network to any -> (em0)\nrdr on em1 proto tcp from !192.168.1.0/24 to 203.0.113.2 port 443 -> 192.168.1.10\n", ""},
		{static, "nat on em0 from em1:network to any -> (em0)\nrdr on em1 proto udp to port 53 -> 192.168.1.1\nrdr on em1 proto tcp to port 80 -> 127.0.0.1 port 3128\n", ""},
		{static, "nat on em0 from em1:network to any -> (em0)\nno rdr on em1 proto tcp from 192.168.1.0/24 to any\nrdr on em1 proto tcp to port 443 -> 192.168.1.10\n", ""},

		{static + "ifconfig_em2=\"inet 198.51.100.2/24\"\n", "gw = \"198.51.200.1\"\npass in on em1 route-to (em2 $gw) from 192.168.1.50 to any\npass all\n", "pf-gateway"},
		{static, "pass in on em0 reply-to (em0 203.0.114.1) proto tcp to port 22\npass all\n", "pf-gateway"},
		{static + "ifconfig_em2=\"inet 198.51.100.2/24\"\n", "pass in on em1 route-to (em1 198.51.100.1) from 192.168.1.50 to any keep state\npass all\n", "pf-gateway"},
		{static + "ifconfig_em2=\"inet 198.51.100.2/24\"\n", "pass in on em1 route-to (em2 198.51.100.1) from 192.168.1.50 to any keep state (max 100)\npass all\n", ""},
		{dhcp, "pass in on em1 route-to (em0 198.51.100.1) from any\npass all\n", ""},
		{static + "ifconfig_em2=\"up\"\n", "pass in on em1 route-to { (em2 198.51.100.1), (em0 203.0.113.1) } round-robin from any\npass in route-to (em2 198.51.100.1)\npass in route-to (em0 fe80::1)\npass all\n", ""},
	} {
		var got []string
		_, host, model := Refused(tree{"/etc/rc.conf": "pf_enable=\"YES\"\n" + c.rc, "/etc/pf.conf": c.pf}, "/etc/pf.conf", "")
		for _, p := range FilterProblems(map[string]string{"host": host, "/etc/rc.conf": c.rc, "/etc/pf.conf": c.pf}, model, true, false, false) {
			got = append(got, p.Message)
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("want %q, got %q\n%s%s", c.want, got, c.rc, c.pf)
		}
	}
}
