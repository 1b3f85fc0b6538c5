package linux

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// input is an nftables.conf with a chain for this host that drops by default.
func input(rules string) string {
	return "flush ruleset\ntable inet f {\n chain in {\n  type filter hook input priority 0; policy drop;\n  ct state vmap { established : accept, related : accept, invalid : drop }\n  iif lo accept\n" + rules + " }\n}\n"
}

const nd = "  meta l4proto ipv6-icmp accept\n"

// TestRefused: what iptables-restore refuses, each tried with iptables 1.8.9, and what it takes.
func TestRefused(t *testing.T) {
	for line, why := range map[string]string{
		"-A INPUT -p tcp -m multiport --dports 1,2,3,4,5,6,7,8,9,10,11,12,13,14:15 -j ACCEPT":        "",
		"-A INPUT -p tcp -m multiport --dports 1,2,3,4,5,6,7,8,9,10,11,12,13,14:15,16 -j ACCEPT":     "more than 15 ports (a range counts as two)",
		"-A INPUT -p tcp --dport 80,443 -j ACCEPT":                                                   "'--dport 80,443 -j ACCEPT' is not valid here, or not behind what stands in front of it",
		"-A INPUT -p tcp --dports 80,443 -j ACCEPT":                                                  "'--dports 80,443 -j ACCEPT' is not valid here, or not behind what stands in front of it",
		"-A INPUT --dport 22 -p tcp -j ACCEPT":                                                       "'--dport 22 -p tcp' is not valid here, or not behind what stands in front of it",
		"-A INPUT -p tcp --dport 90:80 -j ACCEPT":                                                    "the range 90:80 is not valid",
		"-A INPUT -m state --state NEW -m tcp -p tcp --dport 1024: -j ACCEPT":                        "",
		"-A INPUT -m tcp --dport 22 -j ACCEPT":                                                       "-m tcp needs -p tcp",
		"-A INPUT -m conntrack --ctstate ESTABLISHED,RELATE -j ACCEPT":                               "'--ctstate ESTABLISHED,RELATE -j ACCEPT' is not valid here, or not behind what stands in front of it",
		"-A INPUT -m conntrack --ctstate NEW, ESTABLISHED -j ACCEPT":                                 "'--ctstate NEW, ESTABLISHED -j' is not valid here, or not behind what stands in front of it",
		"-A INPUT -m conntrack ! --ctstate RELATED,ESTABLISHED -m comment --comment \"a b\" -j DROP": "",
		"-A INPUT -m limit --limit 5/min -m set --match-set a src -j LOG --log-prefix x: y":          "'y' is not valid here, or not behind what stands in front of it",
		"-A INPUT -s 2001:db8::/32 -j ACCEPT":                                                        "'-s 2001:db8::/32 -j ACCEPT' is not valid here, or not behind what stands in front of it",
		"-A INPUT ! -s 192.0.2.1,192.0.2.2 -j ACCEPT":                                                "! with several addresses",
		"-A INPUT -s 192.0.2.0/255.255.255.0,198.18.0.1 -i e+ -j ACCEPT":                             "",
		"-A INPUT -o lan -j ACCEPT":                                                                  "-o is not possible in INPUT and PREROUTING",
		"-A INPUT -p icmp --icmp-type echo-rquest -j ACCEPT":                                         "'--icmp-type echo-rquest -j ACCEPT' is not valid here, or not behind what stands in front of it",
		"-A INPUT -p udp -j REJECT --reject-with tcp-reset":                                          "tcp-reset needs -p tcp",
		"-A INPUT -j LOGDROP":                       "LOGDROP is neither a target nor a chain of the table filter",
		":LOGDROP - [0:0]\n-A INPUT -j LOGDROP":     "",
		"-A FORWARD -j MASQUERADE":                  "this target is possible in the table nat alone",
		"-A INPUT -m owner --uid-owner 0 -j ACCEPT": "owner is not possible in this chain",
		"-A FORWARD -m conntrak --ctstate NEW":      "'-m conntrak --ctstate NEW' is not valid here, or not behind what stands in front of it",
		":INPUT REJECT [0:0]":                       "a policy is ACCEPT or DROP",
		"*nat":                                      "COMMIT is missing above",
		"iptables -A INPUT -j DROP":                 "iptables begins no line",
	} {
		if _, got := iptablesRefused("*filter\n:INPUT DROP [0:0]\n"+line+"\nCOMMIT\n", "4", true); got != why {
			t.Errorf("%s: %q, want %q", line, got, why)
		}
	}
	if at, why := iptablesRefused("*filter\n-A INPUT -j DROP\n", "4", true); at != 2 || why != "COMMIT is missing" {
		t.Errorf("without COMMIT: %d, %q", at, why)
	}
}

// forward is an nftables.conf that redirects a port, with rules of the forward chain.
func forward(rules string) string {
	return "define web = 192.0.2.10\ntable ip nat {\n chain pre {\n  type nat hook prerouting priority dstnat;\n  iifname wan tcp dport 443 dnat to $web:8443\n }\n}\ntable inet f {\n chain forward {\n  type filter hook forward priority 0; policy drop;\n  ct state established,related accept\n  iifname lan accept\n" + rules + " }\n}\n"
}

func TestFilterProblems(t *testing.T) {
	const nft, v4, v6 = "/etc/nftables.conf", "/etc/iptables/rules.v4", "/etc/iptables/rules.v6"
	for _, c := range []struct {
		what, file, text, want string
		more                   string // another file
	}{
		{"a filter as it should be", nft, input(nd + "  tcp dport { 22, 443 } ct state new accept\n  log prefix \"in: \" level info counter drop\n"), "", ""},
		{"WireGuard's port is dropped", nft, input(nd), "filter-wireguard:3(udp_51820)", "/etc/wireguard/wg0.conf\n[Interface]\nListenPort = 51820\n[Peer]\nPublicKey = a\n"},
		{"WireGuard's port is let in", nft, input(nd + "  udp dport 51820 accept\n"), "", "/etc/wireguard/wg0.conf\n[Interface]\nListenPort = 51820\n[Peer]\nPublicKey = a\n"},
		{"IPsec's ports are dropped", nft, input(nd), "filter-awaited:3(strongSwan's_IKE_udp_500) filter-awaited:3(strongSwan's_IKE_behind_NAT_udp_4500)", "/etc/swanctl/swanctl.conf\nconnections {\n a {\n  remote_addrs = 198.18.0.1\n }\n}\n"},
		{"IPsec's ports are let in", nft, input(nd + "  udp dport { 500, 4500 } accept\n"), "", "/etc/swanctl/swanctl.conf\nconnections {\n a {\n  remote_addrs = 198.18.0.1\n }\n}\n"},
		{"libreswan, and one of the ports", v4, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p udp -m udp --dport 500 -j ACCEPT\nCOMMIT\n", "filter-awaited:2(IPsec's_IKE_behind_NAT_udp_4500)", "/etc/ipsec.conf\nconn a\n  right=198.18.0.1\n"},
		{"OpenVPN's port is dropped", nft, input(nd), "filter-awaited:3(OpenVPN_udp_1195)", "/etc/openvpn/server.conf\nport 1195\nproto udp\nserver 10.8.0.0 255.255.255.0\n"},
		{"OpenVPN connects itself", nft, input(nd), "", "/etc/openvpn/a.conf\nclient\nport 1195\nproto udp\n"},
		{"OSPF is dropped", nft, input(nd), "filter-awaited:3(OSPF_ospf)", "/etc/frr/frr.conf\nrouter ospf\n network 10.0.0.0/8 area 0\n"},
		{"OSPF inside", nft, input(nd + "  iifname lan0 meta l4proto ospf accept\n"), "", "/etc/frr/frr.conf\nrouter ospf\n network 10.0.0.0/8 area 0\n"},
		{"OSPF by number", v4, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p 89 -j ACCEPT\nCOMMIT\n", "", "/etc/frr/frr.conf\nrouter ospf\n network 10.0.0.0/8 area 0\n"},
		{"DHCP's questions are dropped", nft, input(nd), "filter-awaited:3(dnsmasq's_DHCP_udp_67)", "/etc/dnsmasq.conf\ndhcp-range=10.0.0.10,10.0.0.99,12h\n"},
		{"DHCP's questions are let in", nft, input(nd + "  iifname lan0 accept\n"), "", "/etc/dnsmasq.conf\ndhcp-range=10.0.0.10,10.0.0.99,12h\n"},
		{"router advertisements are dropped", nft, input("  icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept\n"), "filter-awaited:3(router_advertisements_icmp6)", "/etc/network/interfaces\nauto eth0\niface eth0 inet6 auto\n"}, //nolint:misspell // nftables' keywords
		{"a web server behind a closed port", nft, input(nd + "  tcp dport 80 accept\n"), "filter-awaited:3(nginx_tcp_443)", "/etc/nginx/nginx.conf\nhttp {\n server {\n  listen 443 ssl;\n }\n}\n"},
		{"WireGuard connects itself", nft, input(nd), "", "/etc/wireguard/wg0.conf\n[Interface]\nListenPort = 51820\n[Peer]\nEndpoint = 198.18.0.1:51820\n"},
		{"a variable below its use", nft, "define a = 22\n" + input(nd+"  tcp dport $b accept\n") + "define b = 443\n", "nft-define-late:9(b)", ""},
		{"a variable of an included file", nft, "include \"/etc/nftables.d/*.nft\"\n" + input(nd+"  tcp dport $b accept\n"), "", "/etc/nftables.d/v.nft\ndefine b = 443\n"},
		{"no neighbours", nft, input("  icmpv6 type echo-request accept\n"), "filter-neighbours:3", ""},
		{"neighbours in a range", nft, input("  icmpv6 type 133-136 accept\n"), "", ""},
		{"types in a set", nft, input("  icmpv6 type @nd accept\n"), "", ""},
		{"IPv6 dropped on purpose", nft, input("  meta nfproto ipv6 drop\n"), "", ""},
		{"IPv6 switched off", nft, input(""), "", "/etc/sysctl.d/a.conf\nnet.ipv6.conf.all.disable_ipv6 = 1\n"},
		{"no neighbours in a table of IPv4", nft, strings.Replace(input(""), "inet", "ip", 1), "", ""},
		{"neighbours in another chain", nft, input("  jump six\n }\n chain six {\n  icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept\n"), "", ""}, //nolint:misspell // nftables' keyword
		{"neighbours in a map", nft, input("  meta l4proto vmap { icmp : accept, icmpv6 : goto six }\n }\n chain six {\n  accept\n"), "", ""},
		{"neighbours by protocol", nft, input("  meta protocol vmap { ip : jump four, ip6 : jump six }\n }\n chain four {\n }\n chain six {\n  icmpv6 type { 135, 136 } accept\n"), "", ""},
		{"not tracked", nft, "table inet raw {\n chain pre {\n  type filter hook prerouting priority raw; policy accept;\n  udp dport 53 notrack\n }\n}\n" + input("  meta l4proto ipv6-icmp accept\n  ct state new udp dport 53 accept\n"), "filter-untracked:4", ""},
		{"not tracked, and accepted", nft, "table inet raw {\n chain pre {\n  type filter hook prerouting priority raw; policy accept;\n  udp dport 53 notrack\n }\n}\n" + input("  meta l4proto ipv6-icmp accept\n  ct state { new, untracked } udp dport 53 accept\n"), "", ""},
		{"not tracked by iptables", v4, "*raw\n-A PREROUTING -p udp -m udp --dport 53 -j CT --notrack\nCOMMIT\n*filter\n:INPUT DROP [0:0]\n-A INPUT -p udp -m udp --dport 53 -m conntrack --ctstate NEW -j ACCEPT\nCOMMIT\n", "filter-untracked:2", ""},
		{"not tracked by iptables, and accepted", v4, "*raw\n-A PREROUTING -p udp -m udp --dport 53 -j CT --notrack\nCOMMIT\n*filter\n:INPUT DROP [0:0]\n-A INPUT -p udp -m udp --dport 53 -j ACCEPT\nCOMMIT\n", "", ""},
		{"accepted in one table alone", nft, input("  meta l4proto ipv6-icmp accept\n  tcp dport 22 accept\n") + "table inet c {\n chain in {\n  type filter hook input priority -10;\n  tcp dport { 8080, 22 } accept\n  tcp dport 8080 accept\n }\n}\n", "filter-two-tables:14(3) filter-two-tables:15(3)", ""},
		{"everything is accepted", nft, input("  ct state { new, established, related } accept\n"), "filter-accepts-all:7 filter-neighbours:3", ""},
		{"established alone", nft, strings.Replace(input(nd), ", related : accept", "", 1), "filter-related:3", ""},
		{"established alone, and all of the inner interface", nft, "table inet f {\n chain forward {\n  type filter hook forward priority 0; policy drop;\n  ct state established accept\n  iifname lan accept\n }\n chain post {\n  type nat hook postrouting priority 100;\n  oifname wan masquerade\n }\n}\n", "filter-related:2", ""},
		{"established, and ICMP", nft, strings.Replace(input("  meta l4proto { icmp, ipv6-icmp } accept\n"), ", related : accept", "", 1), "", ""},
		{"everything but what is dropped above", nft, input("  ip saddr 192.0.2.0/24 drop\n  accept\n"), "", ""},
		{"codes of a type", v6, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p ipv6-icmp -m icmp6 --icmpv6-type 135/0 -j ACCEPT\n-A INPUT -p ipv6-icmp -m icmp6 --icmpv6-type 136/0 -j ACCEPT\nCOMMIT\n", "", ""},
		{"all of IPv6 dropped", v6, "*filter\n:INPUT DROP [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT DROP [0:0]\nCOMMIT\n", "", ""},
		{"everything is accepted by iptables", v4, "*filter\n:INPUT DROP [0:0]\n-A INPUT -m conntrack --ctstate NEW,ESTABLISHED,RELATED -j ACCEPT\nCOMMIT\n", "filter-accepts-all:3", ""},
		{"translated before the exception", v4, "*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -s 10.0.0.0/8 -o wan -j MASQUERADE\n-A POSTROUTING -s 10.0.0.0/8 -d 10.9.0.0/16 -m policy --dir out --pol ipsec -j ACCEPT\nCOMMIT\n", "filter-dead:4(3)", ""},
		{"an exception before it", v4, "*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -s 10.0.0.0/8 -d 10.9.0.0/16 -j RETURN\n-A POSTROUTING -s 10.0.0.0/8 -o wan -j MASQUERADE\n-A POSTROUTING -o tun -j ACCEPT\nCOMMIT\n", "", ""},
		{"translated before the exception, by nft", nft, "table ip n {\n chain post {\n  type nat hook postrouting priority 100;\n  oifname wan masquerade\n  oifname wan ip daddr 10.9.0.0/16 return\n }\n}\n", "filter-dead:5(4)", ""},
		{"nothing forwarded", nft, "table ip n {\n chain post {\n  type nat hook postrouting priority 100;\n  oifname wan masquerade\n }\n}\ntable inet f {\n chain forward {\n  type filter hook forward priority 0; policy drop;\n  ct state established,related accept\n  ct status dnat accept\n }\n}\n", "filter-forward:8", ""},
		{"a map of two fields", nft, input("  meta l4proto . th dport vmap { tcp . 22 : accept }\n"), "", ""},
		{"rules elsewhere", nft, input("  include \"/etc/nftables.d/*.nft\"\n"), "", ""},
		{"a redacted rule", nft, input("  REDACTED\n"), "", ""},
		{"a drop above an accept", nft, input(nd + "  tcp dport 22 drop\n  ip saddr @mgmt tcp dport 22 accept\n"), "filter-dead:9(8)", ""},
		{"an accept of more above a drop", nft, input(nd + "  tcp dport 20-30 accept\n  iifname wan tcp dport { 22, 23 } drop\n"), "filter-dead:9(8)", ""},
		{"a drop of less", nft, input(nd + "  ip saddr @bad drop\n  ip saddr 192.0.2.0/24 tcp dport 22 accept\n  tcp dport 22 limit rate 5/minute accept\n  tcp dport 22 drop\n"), "", ""},
		{"below a drop of everything", nft, input("  counter drop\n  tcp dport 22 accept\n" + nd), "filter-neighbours:3 filter-dead:8(7)", ""},
		{"all but one source", nft, input(nd + "  ip saddr != 192.0.2.1 tcp dport 22 drop\n  tcp dport 22 accept\n"), "", ""},
		{"the port before the redirection", nft, forward("  iifname wan tcp dport 443 accept\n"), "filter-redirect:5", ""},
		{"the port behind it", nft, forward("  iifname wan ip daddr $web tcp dport 8443 ct state new accept\n"), "", ""},
		{"whatever was redirected", nft, forward("  ct status dnat accept\n"), "", ""},
		{"no rule", nft, forward(""), "filter-redirect:5", ""},
		{"no answers of DHCPv6", nft, input(nd), "filter-dhcpv6:3", "/etc/systemd/network/wan.network\n[Match]\nName=wan\n[Network]\nDHCP=yes\n[DHCPv6]\nWithoutRA=solicit\n"},
		{"any DHCP there is", nft, input(nd), "", "/etc/systemd/network/wan.network\n[Match]\nName=wan\n[Network]\nDHCP=yes\n"},
		{"answers of DHCPv6", nft, input(nd + "  udp dport dhcpv6-client accept\n"), "", "/etc/systemd/network/wan.network\n[Network]\nDHCP=ipv6\n"},
		{"DHCP of IPv4", nft, input(nd), "", "/etc/systemd/network/wan.network\n[Network]\nDHCP=ipv4\n"},
		{"nothing filtered", nft, "table inet f {\n chain in {\n  type filter hook input priority 0; policy accept;\n  iif lo accept\n  ct state established accept\n  tcp dport 22 accept\n }\n}\n", "nft-open:2", ""},
		{"a chain that Docker writes to", nft, "table ip filter {\n chain FORWARD {\n  type filter hook forward priority 0; policy drop;\n }\n}\n", "", "/etc/docker/daemon.json\n{}\n"},
		{"containers dropped", nft, forward("  ct status dnat accept\n"), "filter-docker:9", "/etc/docker/daemon.json\n{}\n"},
		{"containers accepted", nft, forward("  ct status dnat accept\n  iifname { docker0, \"br-*\" } accept\n"), "", "/etc/docker/daemon.json\n{}\n"},
		{"a drop that ends", v4, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n-A INPUT -j DROP\n-A FORWARD -i a -j ACCEPT\nCOMMIT\n", "", ""},
		{"a drop of everything", v4, "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n-A FORWARD -j REJECT --reject-with icmp-host-prohibited\n-A INPUT -j DROP\n-A FORWARD -i a -j ACCEPT\nCOMMIT\n", "filter-dead:6(4)", ""},
		{"a comment and a limit", v4, "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp --dport 22 -m limit --limit 5/min -m comment --comment \"ssh, slowly\" -j ACCEPT\n-A INPUT -p tcp --dport 22 -j DROP\nCOMMIT\n", "", ""},
		{"a port forward", v4, "*nat\n-A PREROUTING -i wan -p tcp -m tcp --dport 443 -j DNAT --to-destination 192.0.2.10:8443\nCOMMIT\n*filter\n:FORWARD DROP [0:0]\n-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A FORWARD -p tcp -m multiport --dports 80,443 -j ACCEPT\nCOMMIT\n", "filter-redirect:2", ""},
		{"a limit, and all of it accepted", nft, input(nd + "  tcp dport 22 ct state new limit rate 4/minute accept\n  tcp dport { 22, 80 } accept\n"), "filter-limit:8(9)", ""},
		{"a limit, and the rest dropped", nft, input(nd + "  tcp dport 22 ct state new limit rate 4/minute accept\n  tcp dport 22 drop\n  tcp dport { 22, 80 } accept\n"), "", ""},
		{"a limit for another port", nft, input(nd + "  tcp dport 22 limit rate 4/minute accept\n  tcp dport { 80, 443 } accept\n"), "", ""},
		{"a limit of connections, and a policy that accepts", nft, "table inet f {\n chain in {\n  type filter hook input priority 0;\n  tcp dport 22 ct count 10 accept\n  udp dport 5 drop\n }\n}\n", "filter-limit:4(2)", ""},
		{"a limit of iptables, and all of it accepted", v4, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p icmp -m limit --limit 1/s -j ACCEPT\n-A INPUT -p icmp -j ACCEPT\nCOMMIT\n", "filter-limit:3(4)", ""},
		{"a knock, and the port open", v4, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp --dport 22 -m recent --rcheck --name K -j ACCEPT\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT\n", "filter-limit:3(4)", ""},
		{"a knock", v4, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp --dport 22 -m recent --rcheck --name K -j ACCEPT\n-A INPUT -p tcp --dport 80 -j ACCEPT\nCOMMIT\n", "", ""},
		{"a log below the drop", v4, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\n-A INPUT -j DROP\n-A INPUT -j LOG --log-prefix \"in: \"\nCOMMIT\n", "filter-unseen:5(4)", ""},
		{"a chain called below the accept", v4, "*filter\n:INPUT DROP [0:0]\n:f2b - [0:0]\n-A f2b -s 192.0.2.1 -j DROP\n-A f2b -j RETURN\n-A INPUT -p tcp --dport 22 -j ACCEPT\n-A INPUT -p tcp --dport 22 -j f2b\nCOMMIT\n", "filter-unseen:7(6)", ""},
		{"a chain called above it", v4, "*filter\n:INPUT DROP [0:0]\n:f2b - [0:0]\n-A f2b -s 192.0.2.1 -j DROP\n-A f2b -j RETURN\n-A INPUT -p tcp --dport 22 -j f2b\n-A INPUT -p tcp --dport 22 -j ACCEPT\n-A INPUT -j LOG\nCOMMIT\n", "", ""},
		{"an outgoing interface of what arrives", nft, input(nd + "  oifname lan tcp dport 22 accept\n"), "filter-hook:8(outgoing)", ""},
		{"an outgoing interface of what is forwarded", nft, forward("  ct status dnat accept\n  oifname lan accept\n"), "", ""},
		{"IPv6 closed but for replies", v6, "*filter\n:INPUT DROP [0:0]\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A INPUT -i lo -j ACCEPT\n-A INPUT -m conntrack --ctstate INVALID -j DROP\nCOMMIT\n", "", ""},
		{"no neighbours, and new connections let in", v6, "*filter\n:INPUT DROP [0:0]\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A INPUT -p tcp -m conntrack --ctstate NEW -m tcp --dport 22 -j ACCEPT\nCOMMIT\n", "filter-neighbours:2", ""},
		{"no neighbours by iptables", v6, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT\n", "filter-neighbours:2", ""},
		{"neighbours by iptables", v6, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p ipv6-icmp -m icmp6 --icmpv6-type 135 -j ACCEPT\n-A INPUT -p ipv6-icmp -j ACCEPT\nCOMMIT\n", "", ""},
	} {
		texts := map[string]string{c.file: c.text}
		if name, text, ok := strings.Cut(c.more, "\n"); ok {
			texts[name] = text
		}
		var got []string
		for _, p := range FilterProblems(texts) {
			s := fmt.Sprintf("%s:%d", p.Message, p.Line)
			if p.Detail != "" {
				s += "(" + strings.ReplaceAll(p.Detail, " ", "_") + ")"
			}
			got = append(got, s)
		}
		slices.Sort(got)
		want := strings.Fields(c.want)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q\n%s", c.what, got, want, c.text)
		}
	}
}
