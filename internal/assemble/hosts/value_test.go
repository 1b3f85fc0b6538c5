package hosts

import (
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// TestOfValue: what an audit says of a line, explain says of its value.
func TestOfValue(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ os, release, name, value, want string }{
		{fact.FreeBSD, "14.3", "net.isr.dispatch", "defered", "not one of direct"},
		{fact.FreeBSD, "14.3", "net.isr.dispatch", "deferred", "one CPU"},
		{fact.FreeBSD, "14.3", "net.route.algo.inet.algo", "nonsense", "not loaded by anything"},
		{fact.FreeBSD, "14.3", "kern.maxvnodes", "18446744073709551615", "panics"},
		{fact.FreeBSD, "14.3", "pf_enable", "TRU", "neither YES nor NO"},
		{fact.FreeBSD, "14.3", "net.inet.tcp.minmss", "70000", "path MTU discovery"},
		{fact.FreeBSD, "14.3", "net.inet.tcp.minmss", "400", ""},
		{fact.FreeBSD, "14.3", "net.inet.ip.ttl", "300", "low bits"},
		{fact.FreeBSD, "14.3", "net.inet.udp.checksum", "2", "counts as 1"},
		{fact.FreeBSD, "14.3", "net.inet.tcp.sack.maxholes", "-5", "SACK"},
		{fact.FreeBSD, "14.3", "net.inet.tcp.blackhole", "1", ""},
		{fact.Linux, "6.12", "net.ipv4.tcp_congestion_control", "bbrplus", "no mainline kernel"},
		{fact.Linux, "6.12", "net.core.somaxconn", "8192", ""},
	} {
		r, ok := c.Lookup(x.os, x.name)
		if !ok {
			t.Fatal(x.name)
		}
		says, err := OfValue(nil, r, release.MustParse(x.release), x.name, x.value)
		if all := strings.Join(says, "\n"); err != nil || (all != "") != (x.want != "") || !strings.Contains(all, x.want) {
			t.Errorf("%s=%s: %q %v, want %q", x.name, x.value, says, err, x.want)
		}
	}
}
