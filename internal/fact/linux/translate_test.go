package linux

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// routers are hosts with an outside and an inside, by several programs: eth0 leads out.
var routers = map[string]string{
	"static": "==> /etc/network/interfaces\niface eth0 inet static\n address 203.0.113.5/24\n gateway 203.0.113.1\niface eth1 inet static\n address 192.168.1.1/24\n",
	"dhcp":   "==> /etc/systemd/network/1.network\n[Match]\nName=eth0\n[Network]\nDHCP=ipv4\n==> /etc/systemd/network/2.network\n[Match]\nName=eth1\n[Network]\nAddress=192.168.1.1/24\n[Route]\nDestination=192.168.8.0/24\nGateway=192.168.1.2\n",
	"lab":    "==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    eth0:\n      addresses: [10.1.0.5/24]\n      routes: [{to: default, via: 10.1.0.1}]\n    eth1:\n      addresses: [192.168.1.1/24]\n",
	"three":  "==> /etc/network/interfaces\niface eth0 inet dhcp\niface eth1 inet static\n address 192.168.1.1/24\niface eth2 inet static\n address 192.168.2.1/24\n",
}

// TestTranslations: what is translated is compared with the addresses and routes.
func TestTranslations(t *testing.T) {
	const v4, nft = "==> /etc/iptables/rules.v4\n*nat\n:PREROUTING ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n", "==> /etc/nftables.conf\nflush ruleset\ntable ip nat {\n chain pre {\n  type nat hook prerouting priority -100;\n"
	post := func(rules string) string { return v4 + rules + "COMMIT\n" }
	sets := func(pre, post string) string {
		return nft + pre + "\n }\n chain post {\n  type nat hook postrouting priority 100;\n" + post + "\n }\n}\n"
	}
	for _, c := range []struct{ router, rules, want string }{
		{"static", post("-A POSTROUTING -o eth1 -j MASQUERADE\n"), "nat-inside"},
		{"static", post("-A POSTROUTING -s 192.168.1.0/24 -o eth1 -j SNAT --to-source 203.0.113.5\n"), "nat-inside"},
		{"dhcp", sets("", `oifname "eth1" masquerade`), "nat-inside"},
		{"dhcp", sets("", `iifname "eth0" oif eth1 counter masquerade`), "nat-inside"},
		{"static", post("-A POSTROUTING -o eth0 -j MASQUERADE\n"), ""},
		{"static", post("-A POSTROUTING -o eth0 -j MASQUERADE\n-A POSTROUTING -o eth1 -j MASQUERADE\n"), ""},
		{"static", post("-A POSTROUTING -o eth1 -s 10.8.0.0/24 -j MASQUERADE\n"), ""},
		{"static", post("-A PREROUTING -i eth0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 192.168.1.9\n-A POSTROUTING -o eth1 -j MASQUERADE\n"), ""},
		{"static", post(":mine - [0:0]\n-A POSTROUTING -j mine\n-A POSTROUTING -o eth1 -j MASQUERADE\n-A mine -s 192.168.1.0/24 -j MASQUERADE\n"), ""},
		{"static", "==> /etc/openvpn/server/s.conf\nport 1194\n" + post("-A POSTROUTING -o eth1 -j MASQUERADE\n"), ""},
		{"lab", post("-A POSTROUTING -o eth1 -j MASQUERADE\n"), ""},
		{"three", post("-A POSTROUTING -o eth2 -j MASQUERADE\n"), ""},
		{"dhcp", sets("", `oifname != "lo" masquerade`), ""},

		{"static", post("-A POSTROUTING -s 192.168.10.0/24 -o eth0 -j MASQUERADE\n"), "nat-source"},
		{"dhcp", sets("", `ip saddr 10.0.0.0/24 oifname "eth0" masquerade`), "nat-source"},
		{"three", post("-A POSTROUTING -s 192.168.1.0/24 -o eth0 -j MASQUERADE\n-A POSTROUTING -s 192.168.3.0/24 -o eth0 -j MASQUERADE\n"), "nat-source"},
		{"dhcp", sets("", `ip saddr { 192.168.1.0/24, 192.168.8.0/24 } oifname "eth0" masquerade`), ""},
		{"dhcp", sets("", "ip saddr 192.168.8.0/24 oifname eth0 masquerade\nip saddr 192.168.1.0/24 oifname eth0 masquerade"), ""},
		{"static", post("-A POSTROUTING -s 10.9.0.0/24 -o eth0 -j MASQUERADE\n-A POSTROUTING -s 192.168.0.0/16 -o eth0 -j MASQUERADE\n"), ""},
		{"static", "==> /etc/dnsmasq.conf\ndhcp-range=192.168.10.50,192.168.10.90\n" + post("-A POSTROUTING -s 192.168.10.0/24 -o eth0 -j MASQUERADE\n"), ""},

		{"static", post("-A POSTROUTING -s 192.168.1.0/24 -o eth0 -j SNAT --to-source 203.0.113.50\n"), "nat-address"},
		{"static", sets("", "ip saddr 192.168.1.7 oifname eth0 snat to 203.0.113.50\nip saddr 192.168.1.0/24 oifname eth0 masquerade"), "nat-address"},
		{"static", post("-A PREROUTING -i eth0 -d 203.0.113.50/32 -p tcp -m tcp --dport 25 -j DNAT --to-destination 192.168.1.20\n-A POSTROUTING -o eth0 -j MASQUERADE\n"), "nat-address"},
		{"static", "==> /etc/network/interfaces.d/b\niface eth0 inet static\n address 203.0.113.50/24\n" + post("-A POSTROUTING -s 192.168.1.0/24 -o eth0 -j SNAT --to-source 203.0.113.50\n"), ""},
		{"static", post("-A POSTROUTING -s 192.168.1.0/24 -o eth0 -j SNAT --to-source 198.51.100.9\n"), ""},
		{"static", "==> /etc/rc.local\narp -s 203.0.113.50 00:00:5e:00:53:01 pub\n" + post("-A POSTROUTING -s 192.168.1.0/24 -o eth0 -j SNAT --to-source 203.0.113.50\n"), ""},

		{"static", post("-A PREROUTING -i eth0 -p tcp -m tcp --dport 443 -j DNAT --to-destination 192.168.2.10:443\n-A POSTROUTING -o eth0 -j MASQUERADE\n"), "nat-target"},
		{"dhcp", sets("iifname eth0 tcp dport { 80, 443 } dnat to 10.0.0.5", "oifname eth0 masquerade"), "nat-target"},
		{"three", post("-A PREROUTING -i eth0 -p udp -m udp --dport 5060 -j DNAT --to-destination 192.168.11.4\n-A POSTROUTING -o eth0 -j MASQUERADE\n"), "nat-target"},
		{"dhcp", sets("iifname eth0 tcp dport 443 dnat to 192.168.8.5", "oifname eth0 masquerade"), ""},
		{"static", post("-A PREROUTING -i eth0 -p tcp -m tcp --dport 443 -j DNAT --to-destination 198.51.100.10\n-A POSTROUTING -o eth0 -j MASQUERADE\n"), ""},
		{"static", "==> /etc/docker/daemon.json\n{}\n" + post("-A PREROUTING -i eth0 -p tcp -m tcp --dport 443 -j DNAT --to-destination 172.17.0.2\n-A POSTROUTING -o eth0 -j MASQUERADE\n"), ""},

		{"dhcp", sets("iifname eth1 tcp dport 443 dnat to 192.168.1.10", "oifname eth0 masquerade"), "nat-hairpin"},
		{"dhcp", sets("iifname eth1 tcp dport 443 dnat to 192.168.1.10", "oifname eth0 masquerade\niifname eth0 oifname eth1 masquerade"), "nat-hairpin"},
		{"static", post("-A PREROUTING -i eth1 -d 203.0.113.5/32 -p tcp -m tcp --dport 443 -j DNAT --to-destination 192.168.1.10\n-A POSTROUTING -o eth0 -j MASQUERADE\n"), "nat-hairpin"},
		{"dhcp", sets("iifname eth1 tcp dport 443 dnat to 192.168.1.10", "oifname eth0 masquerade\nip saddr 192.168.1.0/24 ip daddr 192.168.1.10 masquerade"), ""},
		{"dhcp", sets("iifname eth1 udp dport 53 dnat to 192.168.1.1", "oifname eth0 masquerade"), ""},
		{"dhcp", sets("tcp dport 443 dnat to 192.168.1.10", "oifname eth0 masquerade"), ""},
		{"static", post("-A PREROUTING -i eth1 ! -s 192.168.1.0/24 -p tcp -m tcp --dport 443 -j DNAT --to-destination 192.168.1.10\n-A POSTROUTING -o eth0 -j MASQUERADE\n"), ""},
	} {
		found := map[string]bool{}
		for _, p := range NetworkProblems(filesOf(routers[c.router] + c.rules)) {
			found[p.Message] = true
		}
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: want %q, got %q\n%s", c.router, c.want, got, c.rules)
		}
	}
}
