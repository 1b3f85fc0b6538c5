package study_test

import (
	"maps"
	"testing"

	"linerate/internal/setting"
	"linerate/internal/study"
)

// TestNamesOfSettings: evidence refers to a variant's settings by these names.
func TestNamesOfSettings(t *testing.T) {
	for _, c := range []struct {
		s           study.Setting
		name, value string
	}{
		{study.SysctlTo("net.ipv4.ip_forward", "1"), "net.ipv4.ip_forward", "1"},
		{study.SysctlTo("net/ipv4/conf/dut0/rp_filter", "2"), "net.ipv4.conf.IF.rp_filter", "2"},
		{study.LinkTo("ingress", "gro", "off"), "link gro", "off"},
		{study.Setting{NAPI: "threaded", Value: "1", Device: "ingress"}, "napi threaded", "1"},
		{study.Setting{Command: []string{"tc", "qdisc"}}, "command", "[tc qdisc]"},
		{study.Setting{NFT: "flush"}, "nft", "5 bytes of rules"},
		{study.Setting{PF: "block"}, "pf", "pf ruleset of 5 bytes"},
		{study.Setting{Route: "198.18.0.0/15", Via: "198.18.0.1"}, "route", "198.18.0.0/15"},
		{study.Setting{Hops: 2, Over: "gre"}, "hops", "2 gre"},
		{study.Setting{TCP: &setting.Path{InitCwnd: 20}}, "tcp:initcwnd", "20"},
		{study.Setting{Files: "sets/x"}, "files", "files sets/x"},
	} {
		if got := c.s.Names(); !maps.Equal(got, map[string]string{c.name: c.value}) {
			t.Errorf("%v: %q", c.s.Setting(), got)
		}
	}
	if got := (study.Setting{}).Names(); got != nil {
		t.Errorf("an empty setting has the names %q", got)
	}
}
