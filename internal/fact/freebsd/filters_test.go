package freebsd

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFilterProblems(t *testing.T) {
	const pf, ipfw, six = "/etc/pf.conf", "/etc/ipfw.rules", "ifconfig_igb0_ipv6=\"inet6 2001:2::1 prefixlen 64\"\n"
	const head = "ext = \"igb0\"\nlan_net = \"10.0.0.0/8\"\nset skip on lo0\nnat on $ext inet from $lan_net to any -> ($ext)\nblock all\n"
	for _, c := range []struct{ what, file, text, rc, want string }{
		{"a filter as it should be", pf, head + "pass out quick keep state\npass in on igb1 from $lan_net to any\npass in on $ext proto tcp from any to ($ext) port { 22 443 } flags S/SA keep state (max-src-conn 10, overload <bad> flush global)\n", "", ""},
		{"the last rule blocks", pf, "pass out all\npass in proto tcp to port 22\nblock log all\n", "", "filter-dead:1(3)"},
		{"a quick pass of everything", pf, "pass quick all\nblock in proto tcp to port 23\n", "", "filter-dead:2(1)"},
		{"a quick block of everything", pf, "ext_if = \"em0\"\nblock in quick on $ext_if\npass in on $ext_if proto tcp to port 22\n", "", "filter-dead:3(2)"},
		{"a quick block of some", pf, "block in on em0\nblock in quick on em0 from <bad>\npass in on em0 proto tcp to port 22\nblock in quick on em1\n", "", ""},
		{"a default, and what it does not hold for", pf, "block in all\nblock out all\npass out keep state\n", "", ""},
		{"defaults of protocols, and what they do not hold for", pf, "block return-rst in log on em0 proto tcp all\nblock return-icmp out on em0 proto udp all\npass in on em0 proto { tcp udp } all\npass out on em0 proto udp all keep state\n", "", ""},
		{"rules of an anchor", pf, "anchor on em0 {\n pass proto tcp to port 22\n block\n}\n", "", ""},
		{"a table with blanks", pf, "block all\npass in quick proto tcp to port 22 keep state (max-src-conn 5, overload < bad >)\nblock in quick from <bad >\n", "", "pf-overload-late:3"},
		{"IPv6 blocked on purpose", pf, head + "block quick inet6\npass out\n", six, ""},
		{"flags", pf, "pass in on em0 proto tcp to port 22\nblock in quick on em0 proto tcp flags FUP/FUP\n", "", ""},
		{"a narrower block", pf, "pass out all\nblock out on em0 from 192.0.2.1\n", "", ""},
		{"the address before the redirection", pf, "ext = \"igb0\"\nrdr on $ext proto tcp from any to ($ext) port { 80 443 } -> 10.0.0.5\nblock all\npass out\npass in on $ext proto tcp from any to ($ext) port { 80 443 }\n", "", "filter-redirect:2"},
		{"another address than the redirection's", pf, "rdr on igb0 proto tcp from any to 192.0.2.1 port 80 -> 10.0.0.5 port 8080\nblock all\npass out\npass in on igb0 proto tcp from any to 192.0.2.1 port 80\n", "", "filter-redirect:1"},
		{"the redirection's address", pf, "rdr on igb0 proto tcp from any to 192.0.2.1 port 80 -> 10.0.0.5 port 8080\nblock all\npass out\npass in on igb0 proto tcp from any to 10.0.0.5 port 8080\n", "", ""},
		{"a redirection that passes", pf, "rdr pass on igb0 proto tcp from any to 192.0.2.1 port 80 -> 10.0.0.5\nblock all\n", "", ""},
		{"no neighbours", pf, head + "pass out\npass in inet6 proto icmp6 icmp6-type echoreq\n", six, "filter-neighbours:5"},
		{"neighbours", pf, head + "pass out\npass inet6 proto icmp6 icmp6-type { echoreq neighbrsol neighbradv }\n", six, ""},
		{"no neighbours, which nothing needs", pf, head + "pass out\n", "", ""},
		{"no SSH", pf, head + "pass out\npass in on $ext proto tcp to ($ext) port 80\n", "sshd_enable=\"YES\"\n", "filter-ssh:5"},
		{"SSH from somewhere", ipfw, "add 100 allow tcp from table(1) to me 22 in\nadd 200 allow ip from me to any out\n", "sshd_enable=\"YES\"\n", ""},
		{"no CARP", pf, head + "pass out\n", "ifconfig_igb0=\"inet 192.0.2.2/24\"\nifconfig_igb0_alias0=\"inet vhid 1 pass x alias 192.0.2.1/32\"\n", "filter-carp:5"},
		{"CARP", pf, head + "pass on $ext proto carp\n", "ifconfig_igb0_alias0=\"inet vhid 1 pass x alias 192.0.2.1/32\"\n", ""},
		{"behind nat", pf, head + "pass out\nblock out quick on $ext proto tcp from $lan_net to any port 25\n", "", "pf-after-nat:7"},
		{"before nat", pf, head + "pass out\nblock in quick on igb1 proto tcp from $lan_net to any port 25\nblock out on $ext from 192.0.2.0/24\n", "", ""},
		{"no loopback", pf, "block all\npass in on em1\npass out on em0\n", "", "pf-loopback:1"},
		{"loopback in a list", pf, "block all\npass in on em1\npass quick on { lo, em1 } all\n", "", ""},
		{"loopback by the host's addresses", pf, "block all\npass quick from self to any\n", "", ""},
		{"no block of loopback", pf, "block in on em0\npass out\n", "", ""},
		{"all but one interface skipped, loopback too", pf, "set skip on !em0\nblock all\n", "", ""},
		{"two negations", pf, "block in on igb0 from { !192.0.2.0/24, !203.0.113.0/24 }\n", "", "pf-negated-list:1"},
		{"one negation", pf, "block in on igb0 from !192.0.2.0/24\nblock from { 10.0.0.0/8, !10.1.0.0/16 }\n", "", ""},
		{"a block below what fills its table", pf, "block all\npass in quick proto tcp to port 22 keep state (max-src-conn 5, overload <bad>)\nblock in quick from <bad>\n", "", "pf-overload-late:3"},
		{"a block above", pf, "block all\nblock in quick from <bad>\npass in quick proto tcp to port 22 keep state (max-src-conn 5, overload <bad>)\n", "", ""},
		{"anchors may pass anything", pf, "block all\nanchor \"x/*\"\n", six, ""},
		{"allow first", ipfw, "ipfw add 100 allow ip from any to any\nipfw add 200 deny tcp from any to me\n", "", "filter-dead:2(1)"},
		{"allow on loopback first", ipfw, "ipfw add 100 allow ip from any to any via lo0\nipfw add 200 deny tcp from any to me\nipfw add 65000 allow ip from any to any\n", "", ""},
		{"deny above allow, by number", ipfw, "wan=\"em0\"\ncmd=\"ipfw -q add\"\n$cmd 300 allow tcp from any to me 22 in via $wan keep-state\n$cmd 290 deny ip from any to me in via $wan\n", "", "filter-dead:3(4)"},
		{"no replies", ipfw, "add 100 check-state\nadd 200 allow tcp from any to me 22 in via em0\nadd 300 allow tcp from me to any out via em0 setup keep-state\nadd 400 deny ip from any to any\n", "", "filter-replies:2"},
		{"replies", ipfw, "add 200 allow tcp from any to me 22 in via em0\nadd 300 allow tcp from any to any established\nadd 400 deny ip from any to any\n", "", ""},
		{"no replies to the host's own", ipfw, "add 100 allow ip from any to any via lo0\nadd 200 allow udp from me to any 53 out\nadd 300 allow tcp from any to me 22 in setup keep-state\nadd 400 deny ip from any to any\n", "", "filter-replies:2"},
		{"no replies on an interface", ipfw, "wan=\"em0\"\nipfw -q add 200 allow tcp from me to any out xmit $wan\nipfw -q add 400 deny log ip from any to any\n", "", "filter-replies:2"},
		{"replies to the host's own", ipfw, "add 200 allow udp from me to any 53 out\nadd 210 allow udp from any 53 to me in\nadd 220 allow tcp from me to any out\nadd 230 allow tcp from any to me established\nadd 400 deny ip from any to any\n", "", ""},
		{"the host's own by states", ipfw, "add 100 check-state\nadd 200 allow tcp from me to any out setup keep-state\nadd 210 allow tcp from me to any out\nadd 220 allow udp from me to any out keep-state\nadd 400 deny ip from any to any\n", "", ""},
		{"behind nat, which ends the rules", ipfw, "ipfw nat 1 config if em0\nipfw add 100 nat 1 ip from any to any via em0\nipfw add 200 deny tcp from any to me 23 in via em0\nipfw add 300 allow ip from any to any\n", "", "filter-dead:3(2)"},
		{"behind nat, which goes on", ipfw, "sysctl net.inet.ip.fw.one_pass=0\nipfw nat 1 config if em0\nipfw add 100 nat 1 ip from any to any via em0\nipfw add 200 deny tcp from any to me 23 in via em0\nipfw add 300 allow ip from any to any\n", "", ""},
		{"before nat", ipfw, "ipfw nat 1 config if em0\nipfw add 90 deny tcp from any to me 23 in via em0\nipfw add 100 nat 1 ip from any to any via em0\nipfw add 200 deny tcp from any to me 23 in via em1\nipfw add 300 allow ip from any to any\n", "", ""},
		{"translated, and not let out", pf, head + "pass in on igb1 from $lan_net\npass in on $ext proto tcp to port 22\n", "", "filter-forward:4"},
		{"translated, and let out in part", pf, head + "pass in on igb1 from $lan_net\npass out on $ext proto { tcp udp }\n", "", ""},
		{"translated past the filter", pf, "set skip on lo0\nnat pass on igb0 from 10.0.0.0/8 to any -> (igb0)\nblock all\npass in on igb1 from 10.0.0.0/8\n", "", ""},
		{"a deny of everything that an allow hides", ipfw, "add 100 deny tcp from any to me 25\nadd 200 allow ip from any to any\nadd 300 deny log ip from any to any\n", "", "filter-dead:3(2)"},
		{"a last deny below an allow", ipfw, "add 100 deny tcp from any to me 25\nadd 65533 allow ip from any to any\nadd 65534 deny ip from any to any\n", "", ""},
		{"rules that the shell chooses", ipfw, "if [ x ]; then\nipfw add 200 allow tcp from any to me 22 in\nfi\n", "", ""},
		{"ports as options", ipfw, "add 100 deny tcp from any to me dst-port 20-30 in\nadd 200 allow tcp from any to me dst-port 22 in setup keep-state\n", "", "filter-dead:2(1)"},
		{"skipped", ipfw, "add 100 skipto 1000 tcp from any to any out setup keep-state\nadd 150 allow tcp from any to me 22 in via em0\nadd 200 deny ip from any to any\nadd 1000 allow ip from any to any\n", "", "filter-replies:2"},
		{"translated first", ipfw, "ipfw nat 1 config if em0\nipfw add 100 nat 1 ip from any to any via em0\nipfw add 200 allow tcp from any to me 22 in\n", "", ""},
	} {
		var got []string
		for _, p := range FilterProblems(map[string]string{c.file: c.text, "/etc/rc.conf": c.rc}, nil, true, true, false) {
			if p.Message == "pf-loopback" && !strings.Contains(c.what, "loopback") {
				continue // most samples leave it out
			}
			s := fmt.Sprintf("%s:%d", p.Message, p.Line)
			if p.Detail != "" {
				s += "(" + p.Detail + ")"
			}
			got = append(got, s)
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q\n%s", c.what, got, want, c.text)
		}
	}
}
