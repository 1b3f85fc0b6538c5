package freebsd

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/fact"
)

// TestGrammars: each statement is refused at the word between the bars, and taken as its twin.
func TestGrammars(t *testing.T) {
	for _, c := range []struct{ file, wrong, right string }{
		{"/etc/pf.conf", "pass in |quik| on em0 proto tcp to port 22", "pass in quick on em0 proto tcp to port 22"},
		{"/etc/pf.conf", "pass quick |in| on em0", "pass in quick on em0"},
		{"/etc/pf.conf", "pass out on em0 |keep| states", "pass out on em0 keep state"},
		{"/etc/pf.conf", "pass in on em0 |tcp| from any to any", "pass in on em0 proto tcp from any to any"},
		{"/etc/pf.conf", "pass in inet proto icmp |icmp-type| echorq", "pass in inet proto icmp icmp-type { echoreq, unreach code needfrag }"},
		{"/etc/pf.conf", "pass in proto tcp keep state |(|max-src-con 5)", "pass in proto tcp keep state (max-src-conn 5, max-src-conn-rate 10/5, overload <bad> flush global)"},
		{"/etc/pf.conf", "pass in proto tcp from 10.0.0.0/8 port { 1024:65535, ssh } |form| any", "pass in proto tcp from 10.0.0.0/8 port { 1024:65535, >= 22 } to ! <bad> port != 25 flags S/SA"},
		{"/etc/pf.conf", "table <bad> |persistent|", "table <bad> persist { 10.0.0.0/8, !10.1.0.0/16 } file \"/etc/bad\""},
		{"/etc/pf.conf", "scrub in all |maxmss| 1440", "scrub in on em0 all fragment reassemble max-mss 1440 no-df"},
		{"/etc/pf.conf", "nat on em0 from em1:network to any -> (em0) |staticport|", "nat on em0 inet from ! (em0) to any tag LAN -> (em0:0) static-port"},
		{"/etc/pf.conf", "antispoof |on| em0", "antispoof log quick for { em0, em1 } inet label spoof"},
		{"/etc/pf.conf", "block |returned| log all", "block return-icmp (net-unr) log (all, to pflog1) quick on { em0 em1 } route-to (em1 10.0.0.1) inet6 all probability 20%"},
		{"/etc/pf.conf", "|set| limit states many", "set limit { states 5, frags 6 }\nset skip on { lo0, em1 }\nset syncookies adaptive (start 25%, end 12%)"},
		{"/etc/pf.conf", "altq on em0 |hfcs| bandwidth 10Mb queue { a, b }", "altq on em0 hfsc bandwidth 10Mb queue { a, b }\nqueue a bandwidth 50% priority 3 hfsc (default realtime (1Mb 10 2Mb))"},
		{"/etc/ipfw.rules", "add 10 |alow| ip from any to any", "add 10 allow ip from any to any"},
		{"/etc/ipfw.rules", "add 10 allow tcp |form| any to any", "add 10 set 3 prob 0.5 allow log logamount 5 tcp from { 10.0.0.0/8 or 'table(2)' } 1024-65535 to not me 22,80 in via em0 setup limit src-addr 4 // comment"},
		{"/etc/ipfw.rules", "add 10 allow tcp from any to any 22 |via|", "add 10 allow tcp from any to any dst-port 22 via em0 keep-state :ssh"},
		{"/etc/ipfw.rules", "add 10 allow tcp from any to any |22,shs|", "add 10 allow tcp from any to any ssh,domain,1024-65535,22,"},
		{"/etc/rc.conf", "ifconfig_em0=\"up media 10gbase-T |mediaopt| full-duplex,\"", "ifconfig_em0=\"up media 10GBASE-t mediaopt full-duplex,master\""},
		{"/etc/ipfw.rules", "add 10 allow tcp from any to any |ext6hdr| fragment", "add 10 deny ip6 from any any to any any ext6hdr frag in recv not recv em0\na=\nadd 20 allow ip4 from me to \"$a\" \"${a}\" tcpflags syn,!ack\nb=\"\\\n10.0.0.1\n\"\nadd 30 allow ip4 from me to \"$b\" 53 out"},
		{"/etc/ipfw.rules", "add 10 allow tcp from any to any |keepstate|", "add 10 check-state\nadd 20 unreach host-prohib ip6 from any to me6 icmp6types 1,2"},
		{"/etc/ipfw.rules", "pipe 1 config |bandwdth| 10Mbit/s", "pipe 1 config bw 10 Mbit/s delay 5 queue 100 mask dst-ip 0xffffffff\nqueue 1 config pipe 1 weight 9 fq_codel target 5ms ecn"},
		{"/etc/ipfw.rules", "nat 1 config if em0 |redirect-port| tcp 10.0.0.1:80 80", "nat 1 config if em0 same_ports reset redirect_port tcp 10.0.0.1:80 80"},
		{"/etc/rc.conf", "ifconfig_em0=\"inet 10.0.0.1 |netmaks| 255.0.0.0\"", "ifconfig_em0=\"inet 10.0.0.1 netmask 255.0.0.0 media 10Gbase-T mediaopt full-duplex -lro\""},
		{"/etc/rc.conf", "ifconfig_em0=\"inet 10.0.0.1 |netmask| 255.0.255.0\"", "ifconfig_em0=\"inet 10.0.0.1 netmask 0xff000000 up\""},
		{"/etc/rc.conf", "ifconfig_em0_alias0=\"inet |vhid| 256 advskew 100 pass x 10.0.0.3/32\"", "ifconfig_em0_alias0=\"inet vhid 25 advskew 100 pass x alias 10.0.0.3/32\""},
		{"/etc/rc.conf", "ifconfig_lagg0=\"laggproto lacp laggport em0 |em1|\"", "ifconfig_lagg0=\"laggproto lacp laggport em0 laggport em1 lagghash l3,l4 DHCP\""},
		{"/etc/rc.conf", "ifconfig_lagg0=\"|laggproto| brodcast laggport em0\"", "ifconfig_lagg0=\"laggproto broadcast laggport em0 10.0.0.3 netmask 255.255.255.0\"\nifconfig_wlan0=\"NONE\""},
		{"/etc/rc.conf", "ifconfig_em0_ipv6=\"inet6 2001:db8::1 |prefixlenth| 64\"", "ifconfig_em0_ipv6=\"inet6 2001:db8::1 prefixlen 64 no_radr -auto_linklocal\""},
		{"/etc/rc.conf", "static_routes=\"|a,b|\"", "static_routes=\"a b:em0\""},
		{"/etc/rc.conf", "dumpdev=\"|YES|\"", "dumpdev=\"AUTO\""},
		{"/etc/rc.conf", "syslogd_flags=\"|--secure|\"", "syslogd_flags=\"-ss -b 10.0.0.1 -a 10.0.0.0/8:*\""},
		{"/etc/rc.conf", "route_a=\"|-net| 10.0.0.0/8\"", "route_a=\"-net 10.0.0.0/8 -blackhole\"\nroute_b=\"default 10.1.0.1\""},
		{"/etc/rc.conf", "route_a=\"|-host| 10.0.0.0/8 10.1.0.1\"", "route_a=\"-net 10.0.0.0/8 10.1.0.1 -fib 1\"\nroute_b=\"-net 10.2.0.0 -netmask 255.255.0.0 -iface em0\""},
	} {
		_, word, _ := strings.Cut(c.wrong, "|")
		word, _, _ = strings.Cut(word, "|")
		got, _, _ := Refused(tree{c.file: strings.ReplaceAll(c.wrong, "|", "") + "\n"}, "/etc/pf.conf", "/etc/ipfw.rules")
		if len(got) != 1 || got[0].Text != word && !strings.HasSuffix(got[0].Text, "_flags") && !strings.Contains(got[0].Message, " as it is written here") {
			t.Errorf("%s: %+v, want a refusal at %q", c.wrong, got, word)
		}
		if got, _, _ := Refused(tree{c.file: c.right + "\n"}, "/etc/pf.conf", "/etc/ipfw.rules"); len(got) != 0 {
			t.Errorf("%s: %+v, want nothing", c.right, got)
		}
	}
}

// TestMacros: names and values that pfctl does not take, and their twins.
func TestMacros(t *testing.T) {
	for text, want := range map[string]int{
		"queue = em0\nblock all\n":                   1,
		"lan = em0\nblock all\n":                     0,
		"a = em0\nb = \"{ $a em1 }\"\nblock on $b\n": 1,
		"a = em0\nb = \"{\" $a em1 \"}\"\nblock on $b\npass from $a:network to $b\n": 0,
	} {
		if got, _, _ := Refused(tree{"/etc/pf.conf": text}, "/etc/pf.conf", ""); len(got) != want {
			t.Errorf("%q: %+v, want %d", text, got, want)
		}
	}
}

// TestAddressSlips: addresses and routes that contradict each other, and their twins.
func TestAddressSlips(t *testing.T) {
	const base = "ifconfig_em0=\"inet 198.18.0.2/24\"\nifconfig_em0_ipv6=\"inet6 2001:db8:1::2/64\"\n"
	for line, want := range map[string]string{
		"ifconfig_em1_name=\"wan0\"\nifconfig_wan0=\"inet 198.18.5.1/24\"": "",
		`rtadvd_interfaces="em0"`:    "",
		`defaultrouter="198.18.1.1"`: "net-router-far",
		"cloned_interfaces=\"lagg0\"\nifconfig_lagg0=\"laggproto lacp laggport ix0 laggport ix1 198.18.1.2/24\"\ndefaultrouter=\"198.18.1.1\"": "",
		`ifconfig_em1="198.18.1.2/24 mtu 9000"` + "\ndefaultrouter=\"198.18.1.1\"":                                                             "",
		`ifconfig_gif0="inet 198.18.9.1 198.18.9.2 netmask 255.255.255.252 tunnel 198.18.77.1 203.0.113.1"`:                                    "net-tunnel-local",
		`defaultrouter="198.18.0.2"`:                                "net-router-self",
		`defaultrouter="198.18.0.1"`:                                "",
		`ipv6_defaultrouter="2001:db8:2::1"`:                        "net-router-far",
		`ipv6_defaultrouter="2001:db8:1::1"`:                        "",
		`ipv6_defaultrouter="fe80::1%em0"`:                          "",
		`ifconfig_em0_alias0="inet 198.18.0.2/32"`:                  "net-address-twice",
		`ifconfig_em0_alias0="inet 198.18.0.3/32"`:                  "",
		`ifconfig_em1="inet 198.18.0.9 netmask 0xffffff00"`:         "net-same-network",
		`ifconfig_em1="inet 198.18.0.9 netmask 0xffffff00 fib 1"`:   "",
		`ifconfig_em1="inet 198.18.1.255/24"`:                       "net-network-address",
		`ifconfig_em1="inet 198.18.2.0 netmask 255.255.255.0"`:      "net-network-address",
		`ifconfig_em1="inet 198.18.3.0 netmask 255.255.254.0"`:      "",
		`ifconfig_em1="inet 198.18.4.0/31"`:                         "",
		`route_a="-net 198.19.0.0/16 198.18.7.1"`:                   "net-route-far",
		`route_a="-net 198.19.0.0/16 198.18.0.2"`:                   "net-route-self",
		`route_a="-net 198.19.0.0 -netmask 255.255.0.0 198.18.0.9"`: "",
		`route_a="-net 198.19.0.0/16 -iface em0"`:                   "",
		`ifconfig_gif0="tunnel 198.18.0.2 203.0.113.1 inet 10.9.0.1 10.9.0.2 netmask 255.255.255.252"` + "\nroute_a=\"-net 198.19.0.0/16 10.9.0.2\"": "",
		"ifconfig_em1=\"DHCP\"\ndefaultrouter=\"198.18.1.1\"":                                                          "",
		"wireguard_interfaces=\"wg0\"\nroute_a=\"-net 198.19.0.0/16 10.7.0.1\"":                                        "",
		"ifconfig_em1=\"inet $x\"\ndefaultrouter=\"198.18.1.1\"":                                                       "",
		"ipv4_addrs_em1=\"198.18.9.1/24 198.18.10.1/24\"\ndefaultrouter=\"198.18.10.9\"":                               "",
		"cloned_interfaces=\"lagg0\"\nifconfig_lagg0=\"laggproto lacp laggport ix0 laggport ix1\"\nvlans_lagg0=\"20\"": "",
	} {
		got, known := "", &fact.Facts{}
		lines := ReadRC(tree{"/etc/rc.conf": base + line + "\n"}).Lines
		AddRCInterfaces(known, Config{Lines: lines})
		slips, _ := addressSlips(lines, known.NICs)
		for _, p := range slips {
			got += p.Message
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestMTUs: an MTU that the driver refuses, that of a renamed card and of a port of a lagg too, one too
// small for IPv6, and their twins.
func TestMTUs(t *testing.T) {
	for rc, want := range map[string]string{
		"ifconfig_igc1=\"inet 198.18.0.1/24 mtu 9600\"\n":                                                                             "net-driver-mtu",
		"ifconfig_igc1=\"inet 198.18.0.1/24 mtu 9216\"\nifconfig_cxl0=\"up mtu 9600\"\n":                                              "",
		"ifconfig_ix0_name=\"wan\"\nifconfig_wan=\"inet 198.18.0.1/24 mtu 9800\"\n":                                                   "net-driver-mtu",
		"cloned_interfaces=\"lagg0\"\nifconfig_bge0=\"up\"\nifconfig_lagg0=\"laggproto lacp laggport bge0 198.18.0.1/24 mtu 9100\"\n": "net-driver-mtu",
		"ifconfig_em0=\"inet 198.18.0.1/24 mtu 1200\"\nifconfig_em0_ipv6=\"inet6 2001:db8::1/64\"\n":                                  "net-mtu-ipv6",
		"ifconfig_em0=\"inet 198.18.0.1/24 mtu 1200\"\n":                                                                              "",
	} {
		got := ""
		refused, _, _ := Refused(tree{"/etc/rc.conf": rc}, "", "")
		for _, p := range refused {
			got += p.Message
		}
		if got != want {
			t.Errorf("%q: %q, want %q", rc, got, want)
		}
	}
}

// TestJails: what a jail's parameters, the shared ones and the host's files say together.
func TestJails(t *testing.T) {
	const shared = "exec.start = \"/bin/sh /etc/rc\"; # all\nmount.devfs;\npath = \"/jails/$name\";\n$net = 10.3.0;\n"
	for _, c := range []struct{ conf, want string }{
		{"db { ip4.addr = ${net}.7; }", "5 jail-address-host db"},
		{"db {\n ip4.addr = \"em0|$net.7/24\", $net.2;\n}", ""},
		{"* { interface = em0; }\ndb { ip4.addr = $net.7; }", ""},
		{"a { ip4.addr = $net.2;\n ip4.addr += $net.9; }", "6 jail-address-host a"},
		{"a { allow.mount;\n allow.mount.zfs; }", "5 jail-mount-statfs a"},
		{"* { enforce_statfs = 1; }\na { allow.mount;\n allow.mount.zfs; }", ""},
		{"a { vnet; /* x */ vnet.interface = e0a_a; devfs_ruleset = 11; }", "5 jail-ruleset a"},
		{"a { depend = b, c; persist; }\nb { persist; }", "5 jail-depend a"},
		{"a { depend = b; persist; }\nb { persist; }", ""},
	} {
		got := ""
		for _, p := range FilterProblems(map[string]string{"host": "host address 10.3.0.2\n", "/etc/jail.conf": shared + c.conf + "\n"}, nil, false, false, false) {
			got += strings.TrimSpace(fmt.Sprintln(p.Line, p.Message, p.Detail))
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.conf, got, c.want)
		}
	}
}
