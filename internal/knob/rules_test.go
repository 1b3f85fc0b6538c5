package knob

import (
	"errors"
	"strings"
	"testing"

	"linerate/internal/setting"
)

func TestBSDRules(t *testing.T) {
	for _, c := range []struct {
		name     string
		rules    setting.Rules
		pf, ipfw string
	}{
		{"linear", setting.Rules{Linear: 2},
			"block drop in quick from 240.0.0.1 to any\nblock drop in quick from 240.0.0.2 to any\n" +
				"block drop in quick from 2001:db8::1 to any\nblock drop in quick from 2001:db8::2 to any\npass all no state\n",
			"add 1 allow ip from any to any out\nadd 2 skipto 200 ip6 from any to any\n" +
				"add 100 deny ip from 240.0.0.1 to any\nadd 100 deny ip from 240.0.0.2 to any\nadd 101 skipto 300 ip4 from any to any\n" +
				"add 200 deny ip from 2001:db8::1 to any\nadd 200 deny ip from 2001:db8::2 to any\nadd 402 allow ip from any to any\n"},
		{"table", setting.Rules{SetElements: 1},
			"set limit table-entries 200000\ntable <never> persist\nblock drop in quick from <never> to any\npass all no state\n",
			"table never create type addr\ntable never add 240.0.0.1\ntable never add 2001:db8::1\nadd 1 allow ip from any to any out\nadd 300 deny ip from table(never) to any\nadd 402 allow ip from any to any\n"},
		{"stateful", setting.Rules{Stateful: true},
			"block drop all\npass all keep state\n",
			"add 1 allow ip from any to any out\nadd 400 check-state\nadd 401 allow ip from any to any keep-state\n"},
		{"text", setting.Rules{Text: "pass all\n"}, "pass all\n", "pass all\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := PFRules(c.rules); got != c.pf {
				t.Errorf("pf:\n%swant\n%s", got, c.pf)
			}
			if got := IPFWRules(c.rules); got != c.ipfw {
				t.Errorf("ipfw:\n%swant\n%s", got, c.ipfw)
			}
		})
	}
	if n := strings.Count(PFTable(setting.Rules{SetElements: 300}), "\n"); n != 600 {
		t.Errorf("a table of 300 has %d lines", n)
	}
	if a := never(300); a.String() != "240.0.1.45" {
		t.Errorf("the 300th address is %s", a)
	}
}

func TestNFTRules(t *testing.T) {
	got := NFTRules(setting.Rules{Linear: 1, SetElements: 2, MapElements: 1, Stateful: true})
	want := "table ip linerate {\nset never { type ipv4_addr; elements = { 240.0.0.1, 240.0.0.2 } }\nmap never-map { type ipv4_addr : verdict; elements = { 240.0.0.1 : drop } }\n" +
		"chain forward { type filter hook forward priority 0; policy drop;\nip saddr 240.0.0.1 drop\nip saddr @never drop\nip saddr vmap @never-map\nct state established,related accept\nct state new accept\n}\n}\n"
	if four, _, _ := strings.Cut(got, "table ip6"); four != want {
		t.Errorf("nft:\n%swant\n%s", four, want)
	}
	if got := NFTRules(setting.Rules{Linear: 1}); strings.Count(got, "policy accept") != 2 || strings.Contains(got, "set never") || !strings.Contains(got, "ip6 saddr 2001:db8::1 drop") {
		t.Error(got)
	}
}

func TestAsked(t *testing.T) {
	err := errors.New("/sbin/sysctl a=1 in jail x: exit status 1: sysctl: unknown oid 'a'")
	if got := reason(err); got != "sysctl: unknown oid 'a'" {
		t.Errorf("%q", got)
	}
	if got := reason(errors.New("killed")); got != "killed" {
		t.Errorf("%q", got)
	}
}

// TestWasAndIs parses the output of FreeBSD 14.0's sysctl(8).
func TestWasAndIs(t *testing.T) {
	for _, c := range []struct {
		said, was, is string
		ok            bool
	}{
		{"net.isr.dispatch: direct -> deferred", "direct", "deferred", true},
		{"kern.random.harvest.mask: 66047 -> 351", "66047", "351", true},
		{"kern.cp_time: 1  2 -> 3  4", "1 2", "3 4", true},
		{"net.inet.tcp.blackhole:", "", "", false},
		{"", "", "", false},
	} {
		if was, is, ok := wasAndIs(c.said); was != c.was || is != c.is || ok != c.ok {
			t.Errorf("%q: %q, %q, %v; want %q, %q, %v", c.said, was, is, ok, c.was, c.is, c.ok)
		}
	}
}
