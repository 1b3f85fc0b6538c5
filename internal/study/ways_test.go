package study_test

import (
	"maps"
	"testing"

	"linerate/internal/study"
	"linerate/internal/study/ways/filter"
	"linerate/internal/study/ways/kernel"
	"linerate/internal/study/ways/machine"
	"linerate/internal/study/ways/path"
)

// TestNamesOfSettings: evidence finds what a variant sets under these names.
func TestNamesOfSettings(t *testing.T) {
	for _, c := range []struct {
		s           study.Setting
		name, value string
	}{
		{kernel.SysctlTo("net.ipv4.ip_forward", "1"), "net.ipv4.ip_forward", "1"},
		{kernel.SysctlTo("net/ipv4/conf/dut0/rp_filter", "2"), "net.ipv4.conf.IF.rp_filter", "2"},
		{kernel.LinkTo("ingress", "gro", "off"), "link gro", "off"},
		{study.Setting{Own: &kernel.NAPI{NAPI: "threaded"}, Value: "1", Device: "ingress"}, "napi threaded", "1"},
		{study.Setting{Own: &kernel.Command{Command: []string{"tc", "qdisc"}}}, "command", "[tc qdisc]"},
		{study.Setting{Own: &filter.NFT{NFT: &filter.Ruleset{SetElements: 10000, Linear: 1}}}, "nft", "linear 1, set elements 10000"},
		{study.Setting{Own: &filter.NFT{NFT: &filter.Ruleset{Text: "flush", Stateful: true}}}, "nft", "stateful true, 5 bytes of rules"},
		{study.Setting{Own: &filter.PF{PF: &filter.Ruleset{Text: "block"}}}, "pf", "pf ruleset of 5 bytes"},
		{study.Setting{Own: &path.Route{Route: "198.18.0.0/15*100", Via: "198.18.0.1"}}, "route", "198.18.0.0/15*100"},
		{study.Setting{Own: &path.Hops{Hops: 2, Over: "gre"}}, "hops", "2 gre"},
		{study.Setting{Own: &path.TCP{TCP: &path.Treatment{InitCwnd: 20}}}, "tcp:initcwnd", "20"},
		{study.Setting{Own: &machine.Files{Files: "sets/x"}}, "files", "files sets/x"},
	} {
		if got := c.s.Names(); !maps.Equal(got, map[string]string{c.name: c.value}) {
			t.Errorf("%v: %q", c.s.Setting(), got)
		}
	}
	if got := (study.Setting{}).Names(); got != nil {
		t.Errorf("nothing: %q", got)
	}
}
