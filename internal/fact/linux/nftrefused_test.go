package linux

import (
	"strings"
	"testing"
)

// ruled is a ruleset with a rule in a chain for this host's packets.
func ruled(rule string) string {
	return "flush ruleset\ntable inet f {\n chain in {\n  type filter hook input priority filter; policy drop;\n  " + rule + "\n  tcp dport 22 accept\n }\n}\n"
}

// tabled is a table, with a chain that comes with it.
func tabled(family, block, chain, rule string) string {
	return "table " + family + " t {\n" + block + " chain c {\n  " + chain + "\n  " + rule + "\n }\n}\n"
}

// TestNFTRefused: what nft refuses, each with the nearest text that it takes; tried with nft 1.0.6.
func TestNFTRefused(t *testing.T) {
	for wrong, right := range map[string]string{
		`tcp dport 80 allow`:                                        `tcp dport 80 accept`,
		`tcp dport 23 deny`:                                         `tcp dport 23 drop`,
		`tcp dport 23 reject with icmp port-unreach`:                `tcp dport 23 reject with icmp port-unreachable`,
		`ip6 saddr 2001:db8::/32 reject with icmp port-unreachable`: `ip6 saddr 2001:db8::/32 reject with icmpv6 port-unreachable`,
		`tcp dport 23 log level warning prefix "x " drop`:           `tcp dport 23 log level warn prefix "x " drop`,
		`tcp dport 23 log prefix drop: drop`:                        `tcp dport 23 log prefix "drop: " drop`,
		`tcp dport 23 log prefix "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" drop`: `tcp dport 23 log prefix "a" drop`,
		`tcp dport 23 log group 2 level info drop`:               `tcp dport 23 log group 2 drop`,
		`ct state nwe tcp dport 80 accept`:                       `ct state new tcp dport 80 accept`,
		`meta l4prot tcp tcp dport 80 accept`:                    `meta l4proto tcp tcp dport 80 accept`,
		`ip source 192.0.2.1 tcp dport 80 accept`:                `ip saddr 192.0.2.1 tcp dport 80 accept`,
		`ip saddr 192.0.2.300 tcp dport 80 accept`:               `ip saddr 192.0.2.30 tcp dport 80 accept`,
		`ip6 saddr 192.0.2.1 tcp dport 80 accept`:                `ip saddr 192.0.2.1 tcp dport 80 accept`,
		`tcp dport 65536 accept`:                                 `tcp dport 65535 accept`,
		`tcp dport 80,443 accept`:                                `tcp dport { 80, 443 } accept`,
		`dport 80 accept`:                                        `tcp dport 80 accept`,
		`tcp,udp dport 53 accept`:                                `meta l4proto { tcp, udp } th dport 53 accept`,
		`icmp type echo-requests accept`:                         `icmp type echo-request accept`,
		`icmpv6 type neighbor-solicitation accept`:               `icmpv6 type nd-neighbor-solicit accept`, //nolint:misspell // a mistake on purpose
		`icmpv6 type nd-neighbour-solicit accept`:                `icmpv6 type nd-neighbor-solicit accept`, //nolint:misspell // a mistake on purpose
		`tcp dport 80 limit rate 10/sec accept`:                  `tcp dport 80 limit rate 10/second accept`,
		`tcp dport 80 limit rate 10 mbit/second accept`:          `tcp dport 80 limit rate 10 mbytes/second accept`,
		`tcp dport 80 limit rate 10/second burst 5 bytes accept`: `tcp dport 80 limit rate 10/second burst 5 packets accept`,
		`tcp dport 80 accept counter`:                            `tcp dport 80 counter accept`,
		`tcp dport 80 comment "x" accept`:                        `tcp dport 80 accept comment "x"`,
		`iif "eth*" tcp dport 80 accept`:                         `iifname "eth*" tcp dport 80 accept`,
		`iifname "eth0","eth1" tcp dport 80 accept`:              `iifname { "eth0", "eth1" } tcp dport 80 accept`,
		`ip saddr !192.0.2.0/24 tcp dport 80 drop`:               `ip saddr != 192.0.2.0/24 tcp dport 80 drop`,
		`ip saddr not 192.0.2.0/24 tcp dport 80 drop`:            `ip saddr != 192.0.2.0/24 tcp dport 80 drop`,
		`tcp dport vmap { 80 accept, 443 accept }`:               `tcp dport vmap { 80 : accept, 443 : accept }`,
		`tcp dport vmap { 80, 443 }`:                             `tcp dport { 80, 443 } accept`,
		`udp dport 53 tcp dport 53 accept`:                       `udp dport 53 accept`,
		`mark 0x1 set`:                                           `meta mark set 0x1`,
		`tcp dport 80 meta mark 0x1 set`:                         `tcp dport 80 meta mark set 0x1`,
		`tcp dport 80 ct count 20 over drop`:                     `tcp dport 80 ct count over 20 drop`,
		`tcp dport 80 quota over 10 gb drop`:                     `tcp dport 80 quota over 10240 mbytes drop`,
		`tcp dport 80 queue 0 bypass`:                            `tcp dport 80 queue num 0 bypass`,
		`tcp dport 80 queue num 0 bypas`:                         `tcp dport 80 queue num 0 bypass`,
		`fib saddr iif oif missing drop`:                         `fib saddr . iif oif missing drop`,
		`fib daddr type localhost accept`:                        `fib daddr type local accept`,
		`ether saddr 02:00:00:00:00 drop`:                        `ether saddr 02:00:00:00:00:01 drop`,
		`meta day "Mondays" tcp dport 80 accept`:                 `meta day "Monday" tcp dport 80 accept`,
		`ip dscp af44 accept`:                                    `ip dscp af43 accept`,
		`ct direction orig accept`:                               `ct direction original tcp dport 80 accept`,
		`meta pkttype mcast accept`:                              `meta pkttype multicast accept`,
		`meta nfproto ip4 tcp dport 80 accept`:                   `meta nfproto ipv4 tcp dport 80 accept`,
		`meta l4proto icmp6 accept`:                              `meta l4proto icmpv6 accept`,
		`meta l4proto ipsec accept`:                              `meta l4proto esp accept`,
	} {
		if at, words := nftRefused(ruled(wrong)); at != 5 || words == "" {
			t.Errorf("%s: line %d, %q", wrong, at, words)
		}
		if at, words := nftRefused(ruled(right)); at != 0 {
			t.Errorf("%s: %q", right, words)
		}
	}
}

// TestNFTBlocks: sets, chains and tables that nft refuses, and what it takes.
func TestNFTBlocks(t *testing.T) {
	const in, pre, post, fwd = "type filter hook input priority 0;", "type nat hook prerouting priority dstnat;", "type nat hook postrouting priority srcnat;", "type filter hook forward priority 0;"
	set := func(lines string) string { return " set s {\n  " + strings.ReplaceAll(lines, "; ", "\n  ") + "\n }\n" }
	for wrong, right := range map[string]string{
		tabled("inet", set("type ipv4_addr"), in, "ip6 saddr @s drop"):                                                     tabled("inet", set("type ipv4_addr"), in, "ip saddr @s drop"),
		tabled("inet", set("type ipv4_addr"), in, "tcp dport @s drop"):                                                     tabled("inet", set("type inet_service"), in, "tcp dport @s drop"),
		tabled("inet", set("type ipv4_addr; size 9"), in, "add @s { ip saddr timeout 1m }"):                                tabled("inet", set("type ipv4_addr; size 9; flags dynamic,timeout"), in, "add @s { ip saddr timeout 1m }"),
		tabled("inet", set("type ipv4_addr; flags interval"), in, "add @s { ip saddr }"):                                   tabled("inet", set("type ipv4_addr; flags dynamic"), in, "add @s { ip saddr }"),
		tabled("inet", set("type ipv4_addr; elements = { 192.0.2.1 timeout 1h }"), in, "ip saddr @s drop"):                 tabled("inet", set("type ipv4_addr; flags timeout; elements = { 192.0.2.1 timeout 1h }"), in, "ip saddr @s drop"),
		tabled("inet", set("type ipv4_addr; elements = { 192.0.2.256 }"), in, "ip saddr @s drop"):                          tabled("inet", set("type ipv4_addr; elements = { 192.0.2.255, 192.0.2.1 comment \"a\" }"), in, "ip saddr @s drop"),
		tabled("inet", set("type ipv4_adr"), in, "ip saddr @s drop"):                                                       tabled("inet", set("typeof ip saddr"), in, "ip saddr @s drop"),
		tabled("inet", set("type ipv4_addr; flags intervals"), in, "ip saddr @s drop"):                                     tabled("inet", set("type ipv4_addr; flags interval, timeout"), in, "ip saddr @s drop"),
		tabled("inet", set("flags interval"), in, "ip saddr @s drop"):                                                      tabled("inet", set("flags interval; type ipv4_addr"), in, "ip saddr @s drop"),
		tabled("inet", set("type ipv4_addr; timeout 1hour"), in, "ip saddr @s drop"):                                       tabled("inet", set("type ipv4_addr; timeout 1h30m"), in, "ip saddr @s drop"),
		tabled("inet", set("type ipv4_addr; gc-interval 9s"), in, "ip saddr @s drop"):                                      tabled("inet", set("type ipv4_addr; gc-interval 9s; timeout 1d"), in, "ip saddr @s drop"),
		tabled("inet", set("type ipv4_addr"), in, "ip saddr . tcp dport @s drop"):                                          tabled("inet", set("type ipv4_addr . inet_service"), in, "ip saddr . tcp dport @s drop"),
		tabled("inet", set("type ipv4_addr . inet_service; elements = { 192.0.2.1 }"), in, "ip saddr . tcp dport @s drop"): tabled("inet", set("type ipv4_addr . inet_service; elements = { 192.0.2.1 . 80 }"), in, "ip saddr . tcp dport @s drop"),
		tabled("inet", "", "type filter hook prerouting;", "accept"):                                                       tabled("inet", "", "type filter hook prerouting priority mangle - 5;", "accept"),
		tabled("inet", "", "type mangle hook prerouting priority mangle;", "accept"):                                       tabled("inet", "", "type filter hook prerouting priority mangle;", "accept"),
		tabled("ip", "", "type nat hook prerouting priority raw;", "tcp dport 80 dnat to 192.0.2.1"):                       tabled("ip", "", pre, "tcp dport 80 dnat to 192.0.2.1"),
		tabled("ip", "", pre, "tcp dport 80 redirect to 192.0.2.1:80"):                                                     tabled("ip", "", pre, "tcp dport 80 redirect to :80"),
		tabled("ip", "", post, "oifname \"a\" masquerade fully_random"):                                                    tabled("ip", "", post, "oifname \"a\" masquerade fully-random,persistent"),
		tabled("ip", "", post, "oifname \"a\" masquerade to 192.0.2.1"):                                                    tabled("ip", "", post, "oifname \"a\" snat to 192.0.2.1-192.0.2.9"),
		tabled("netdev", "", "type filter hook ingress priority -500;", "drop"):                                            tabled("netdev", "", "type filter hook ingress device \"a\" priority -500;", "drop"),
		tabled("netdev", "", "type filter hook ingress device a priority 0;", "ct state invalid drop"):                     tabled("netdev", "", "type filter hook ingress device a priority 0;", "ip saddr 10.0.0.0/8 drop"),
		tabled("bridge", "", pre, "accept"):                                                                                tabled("bridge", "", "type filter hook prerouting priority dstnat;", "accept"),
		tabled("ipv4", "", in, "accept"):                                                                                   tabled("ip", "", in, "accept"),
		tabled("inet", " flowtable f {\n  hook forward priority 0;\n  devices = { a, b };\n }\n", fwd, "flow add @f"):      tabled("inet", " flowtable f {\n  hook ingress priority filter;\n  devices = { a, b };\n }\n", fwd, "flow add @f"),
		"define a 1\n" + tabled("ip", "", in, "tcp dport $a drop"):                                                         "define a = 1\n" + tabled("ip", "", in, "tcp dport $a drop"),
		"include /etc/a.nft\n" + tabled("ip", "", in, "drop"):                                                              "include \"/etc/a.nft\"\n" + tabled("ip", "", in, "drop"),
		strings.Replace(tabled("ip", "", in, "drop"), "chain c", "chain drop", 1):                                          tabled("ip", "", in, "tcp dport { 22, \\\n 80 } drop"),
		tabled("ip", "", pre, "oifname a masquerade"):                                                                      tabled("ip", "", post, "oifname a masquerade comment \"x\""),
		tabled("ip", "", post, "tcp dport 80 dnat to 198.18.0.1"):                                                          tabled("ip", "", pre, "tcp dport 80 dnat to 198.18.0.1"),
		tabled("ip", "", fwd, "snat to 198.18.0.1"):                                                                        tabled("ip", "", fwd, "ct status dnat icmp type redirect accept"),
		tabled("ip6", "", in, "reject with icmp port-unreachable"):                                                         tabled("ip6", "", in, "reject with icmpv6 port-unreachable"),
	} {
		if at, words := nftRefused(wrong); at == 0 || words == "" {
			t.Errorf("taken: %s", wrong)
		}
		if at, words := nftRefused(right); at != 0 {
			t.Errorf("%q: %s", words, right)
		}
	}
	for _, text := range []string{
		" chain c {\n  tcp dprt 22 accept\n }\n",
		strings.Replace(ruled("tcp dport {{ port }} accept"), "filter;", "{{ p }};", 1),
		ruled("tcp dport __PORT__ accep"),
	} {
		if at, words := nftRefused(text); at != 0 {
			t.Errorf("a part, or a template: %q: %s", words, text)
		}
	}
}
