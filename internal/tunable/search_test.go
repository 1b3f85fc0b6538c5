package tunable_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/tunable"
)

// TestSearch: the first few results of some words include what a person means by them.
func TestSearch(t *testing.T) {
	c := load(t)
	for _, k := range []struct{ words, os, want string }{
		{"tcp send buffer", tunable.Linux, "net.ipv4.tcp_wmem"},
		{"tcp send buffer", tunable.FreeBSD, "net.inet.tcp.sendspace"},
		{"tcp receive buffers", tunable.Linux, "net.ipv4.tcp_rmem"},
		{"accept queue", tunable.Linux, "net.core.somaxconn"},
		{"Neighbour Table", tunable.Linux, "net.ipv4.neigh.default.gc_thresh3"},
		{"conntrack max", tunable.Linux, "net.netfilter.nf_conntrack_max"},
		{"path mtu black hole", tunable.Linux, "net.ipv4.tcp_mtu_probing"},
		{"reverse path", tunable.Linux, "net.ipv4.conf.IF.rp_filter"},
		{"ring size", tunable.Linux, "ethtool -G IF rx N"},
		{"syn cookies", "", "net.ipv4.tcp_syncookies"},
	} {
		var names []string
		for _, m := range c.Search(k.os, k.words, 10) {
			names = append(names, m.Record.Name)
		}
		if !slices.Contains(names, k.want) {
			t.Errorf("%q on %q finds %v, not %s", k.words, k.os, names, k.want)
		}
	}
	if got := c.Search(tunable.Linux, "ring", 1); len(got) != 1 || got[0].Record.Name != "ethtool -G IF rx N" {
		t.Errorf("a word is looked for in parts of others: %+v", got) // io_uring, TCP's corking
	}
	if got := c.Search("", "xyzzy plugh", 0); len(got) > 0 {
		t.Errorf("nonsense finds %s", got[0].Record.Name)
	}
	if got := c.Search("", "   ", 0); len(got) > 0 {
		t.Error("nothing finds something")
	}
}

// TestNamesOfTheOtherSystem: they are not reported as unknown, and the equivalent on this system is
// named.
func TestNamesOfTheOtherSystem(t *testing.T) {
	c := load(t)
	for _, k := range []struct{ os, name, says, hint string }{
		{tunable.Linux, "net.inet.ip.forwarding", "is a tunable of freebsd, not of linux", "net.ipv4.ip_forward"},
		{tunable.FreeBSD, "net.ipv4.tcp_congestion_control", "is a tunable of linux, not of freebsd", "net.inet.tcp.cc.algorithm"},
		{tunable.FreeBSD, "net/ipv4/conf/eth0.1/rp_filter", "is a tunable of linux", "net.inet.ip.check_interface"},
		{tunable.Linux, "net.ipv4.tcp_sakc", "unknown tunable", "net.ipv4.tcp_sack"},
		{tunable.Linux, "tcp_sakc", "unknown tunable", "net.ipv4.tcp_sack"},
		{"", "rp_fliter", "unknown tunable", "net.ipv4.conf.IF.rp_filter"},
	} {
		_, err := c.Find(k.os, k.name)
		if err == nil || !strings.Contains(err.Error(), k.says) || !strings.Contains(hint.Of(err), k.hint) {
			t.Errorf("%s on %s: %v, hint %q; want %q and %q", k.name, k.os, err, hint.Of(err), k.says, k.hint)
		}
		if !hint.IsUsage(err) {
			t.Errorf("%s on %s: no usage error", k.name, k.os)
		}
	}
}
