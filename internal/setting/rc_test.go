package setting

import "testing"

func TestRCEffect(t *testing.T) {
	for _, c := range []struct {
		variable, value, sysctl, to string
		ok                          bool
	}{
		{"gateway_enable", "YES", "net.inet.ip.forwarding", "1", true},
		{"gateway_enable", "no", "net.inet.ip.forwarding", "0", true},
		{"ipv6_gateway_enable", "On", "net.inet6.ip6.forwarding", "1", true},
		{"gateway_enable", "perhaps", "", "", false},
		{"pf_enable", "YES", "", "", false},
	} {
		if sysctl, to, ok := RCEffect(c.variable, c.value); sysctl != c.sysctl || to != c.to || ok != c.ok {
			t.Errorf("RCEffect(%s, %s) = %q %q %v", c.variable, c.value, sysctl, to, ok)
		}
	}
}
