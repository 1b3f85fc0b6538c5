package study_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/studies"
)

// TestVariantsNameTheirSystem: a variant of a built-in study that sets what one
// system alone has says so (os:), that the other's lab may say why it does not
// try it. What every testbed translates in its own way says nothing.
func TestVariantsNameTheirSystem(t *testing.T) {
	for _, name := range studies.Names() {
		text, err := studies.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := study.Parse(name+".yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.Variants {
			if served(s) && v.OS == "" {
				continue // servers on file systems of Linux's: no other lab has any part of it
			}
			if want := systemOf(v); want != v.OS {
				t.Errorf("study %s, variant %s: os is %q, its settings are those of %q", name, v.Name, v.OS, want)
			}
		}
	}
}

// TestSystemsOfSettings: the test above can tell them apart.
func TestSystemsOfSettings(t *testing.T) {
	for want, settings := range map[string][]study.Setting{
		"linux": {{NAPI: "threaded"}, {NFT: &study.Ruleset{Text: "x"}}, {CPUs: 2}, {PolicyRules: 3}, {Forward: setting.ForwardXDP}, {Link: "gso"},
			{Sysctl: "net.ipv4.ip_early_demux"}, {Sysctl: "net/ipv4/conf/dut0/rp_filter"}, {Sysctl: "net.core.dev_weight"},
			{Firewall: &study.Firewall{Map: 3}}, {Firewall: &study.Firewall{Linear: 3, By: setting.ByIptablesLegacy}}},
		"freebsd": {{PF: &study.Ruleset{Text: "x"}}, {IPFW: &study.Ruleset{Text: "x"}}, {Sysctl: "net.isr.dispatch"}, {Sysctl: "kern.random.harvest.mask"},
			{Firewall: &study.Firewall{Linear: 3, By: setting.ByPF}}},
		"": {{Hops: 2}, {Firewall: &study.Firewall{Table: 9, Optimise: true}}, {Routes: &study.Routes{Count: 9}}, {Link: "mtu"}, {Link: "tso"}, {Forward: setting.ForwardBridge}},
	} {
		for _, set := range settings {
			if got := systemOf(study.Variant{Settings: []study.Setting{set}}); got != want {
				t.Errorf("%s: of %q, want %q", set.Setting(), got, want)
			}
		}
	}
}

// served reports whether all parts of a study are of servers.
func served(s study.Spec) bool {
	return !slices.ContainsFunc(s.Parts, func(p study.Part) bool { return p.Mode != testbed.Serve })
}

// systemOf is the one system that has what a variant sets, "" where both do.
func systemOf(v study.Variant) string {
	for _, set := range v.Settings {
		switch {
		case ofLinux(set):
			return "linux"
		case ofFreeBSD(set):
			return "freebsd"
		}
	}
	return ""
}

func ofLinux(s study.Setting) bool {
	f := s.Firewall
	return s.NAPI != "" || s.NFT != nil || s.CPUs > 0 || s.PolicyRules > 0 || s.Forward == setting.ForwardXDP ||
		s.Link == "gso" || s.Link == "tx-checksum" ||
		f != nil && (f.Map > 0 || slices.Contains([]string{setting.ByNFT, setting.ByIptablesLegacy, setting.ByIptablesNFT}, f.By)) ||
		under(s.Sysctl, "net.core.", "net.ipv4.", "net.ipv6.", "net.netfilter.", "net.bridge.")
}

func ofFreeBSD(s study.Setting) bool {
	f := s.Firewall
	return s.PF != nil || s.IPFW != nil || s.RC != "" || s.Loader != "" ||
		f != nil && (f.By == setting.ByPF || f.By == setting.ByIPFW) ||
		under(s.Sysctl, "net.inet.", "net.inet6.", "net.isr.", "net.link.", "kern.", "hw.", "dev.")
}

func under(name string, trees ...string) bool {
	name = strings.ReplaceAll(name, "/", ".")
	return slices.ContainsFunc(trees, func(tree string) bool { return strings.HasPrefix(name, tree) })
}
