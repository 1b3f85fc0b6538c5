package jailbed

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

func TestPathOf(t *testing.T) {
	hops := func(n, over string) []setting.Setting {
		return []setting.Setting{{Mechanism: setting.Hops, Name: over, Value: n}, {Mechanism: setting.Sysctl, Name: "x"}}
	}
	only := func(have string) func(string) bool { return func(module string) bool { return module == have } }
	for _, c := range []struct {
		settings []setting.Setting
		have     string
		want     testbed.HopPath
		lacks    string // setting named in an ErrUnavailable
	}{
		{hops("3", ""), "", testbed.HopPath{Hops: 3}, ""},
		{hops("1", "vlan"), "if_vlan", testbed.HopPath{Hops: 1, Over: "vlan"}, ""},
		{hops("1", "vlan"), "if_gif", testbed.HopPath{}, "kldload if_vlan"},
		{hops("1", "ipip"), "", testbed.HopPath{}, "kldload if_gif"},
		{hops("1", "ipsec"), "if_gif", testbed.HopPath{}, "not by ipsec"},
		{hops("1", "vxlan"), "if_vxlan", testbed.HopPath{}, "no vxlan(4) in a jail"},
	} {
		p, _, err := pathOf(c.settings, only(c.have))
		var un *testbed.ErrUnavailable
		if p.Hops != c.want.Hops || p.Over != c.want.Over || errors.As(err, &un) != (c.lacks != "") || un != nil && !strings.Contains(un.Reason, c.lacks) {
			t.Errorf("%v: %+v, %v", c.settings, p, err)
		}
	}
	if _, _, err := pathOf(hops("17", ""), only("")); err == nil {
		t.Error("17 hops are accepted")
	}
}

// TestAcross: an interface on top of a link has separate addresses, over which the far network is reached.
func TestAcross(t *testing.T) {
	up, down := hopEnds(0)
	for over, want := range map[string]string{
		"":     "route -q -n add -inet -net 198.19.0.0/16 198.18.254.2",
		"vlan": "ifconfig overnext0 inet 198.18.253.1/30 up",
		"ipip": "ifconfig overnext0 inet 198.18.253.1 198.18.253.2 up",
		"gre":  "ifconfig gre create tunnel 198.18.254.1 198.18.254.2 mtu 1500 name overnext0",
	} {
		if got := lines(across(up, down, sinkPort, over)); !strings.Contains(got, want) {
			t.Errorf("over %q:\n%s\nwant %s", over, got, want)
		}
	}
	last := across(up, down, sinkPort, "vlan")
	if got := fmt.Sprint(last[len(last)-2]); !strings.HasSuffix(got, "198.19.0.0/16 198.18.253.2]") {
		t.Errorf("over a VLAN the route uses %s", got)
	}
}
