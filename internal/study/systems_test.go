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

// TestVariantsNameTheirSystem: a variant of a built-in study whose settings only one system has
// must say so (os:), so that the other system's lab can explain why it skips the variant.
// Settings that every testbed translates need no os.
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
				continue // Linux file systems: no other lab can run any part of it
			}
			if want := systemOf(v); want != v.OS {
				t.Errorf("study %s, variant %s: os is %q, but its settings are those of %q", name, v.Name, v.OS, want)
			}
		}
	}
}

// TestSystemsOfSettings checks that systemOf, used above, tells the systems apart.
func TestSystemsOfSettings(t *testing.T) {
	rules := "x"
	firewall := func(r setting.Rules) study.Setting { return study.Setting{Firewall: &r} }
	for want, settings := range map[string][]study.Setting{
		"linux": {{NAPI: "threaded"}, {NFT: rules}, {CPUs: 2}, {PolicyRules: 3}, {Forward: setting.ForwardXDP}, {Link: "gso"},
			study.SysctlTo("net.ipv4.ip_early_demux", "1"), study.SysctlTo("net/ipv4/conf/dut0/rp_filter", "1"), study.SysctlTo("net.core.dev_weight", "1"),
			firewall(setting.Rules{MapElements: 3}), firewall(setting.Rules{Linear: 3, By: setting.ByIptablesLegacy})},
		"freebsd": {{PF: rules}, {IPFW: rules}, study.SysctlTo("net.isr.dispatch", "1"), study.SysctlTo("kern.random.harvest.mask", "1"),
			firewall(setting.Rules{Linear: 3, By: setting.ByPF})},
		"": {{Hops: 2}, firewall(setting.Rules{SetElements: 9, Optimise: true}), {Routes: &setting.Table{Count: 9}}, study.LinkTo("", "mtu", "9"), study.LinkTo("", "tso", "on"), {Forward: setting.ForwardBridge}},
	} {
		for _, set := range settings {
			if got := systemOf(study.Variant{Settings: []study.Setting{set}}); got != want {
				t.Errorf("%s: of %q, want %q", set.Setting(), got, want)
			}
		}
	}
}

// served reports whether all parts of a study are of mode serve.
func served(s study.Spec) bool {
	return !slices.ContainsFunc(s.Parts, func(p study.Part) bool { return p.Mode != testbed.Serve })
}

// systemOf returns the only system that has a variant's settings, "" if both do.
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
	set := s.Setting()
	switch set.Mechanism {
	case setting.NAPI, setting.NFT, setting.CPUs, setting.PolicyRules:
		return true
	case setting.Forward:
		return set.Name == setting.ForwardXDP
	case setting.Link:
		return set.Name == "gso" || set.Name == "tx-checksum"
	case setting.Firewall:
		return set.Rules.MapElements > 0 || slices.Contains([]string{setting.ByNFT, setting.ByIptablesLegacy, setting.ByIptablesNFT}, set.Rules.By)
	}
	return set.Mechanism == setting.Sysctl && under(set.Name, "net.core.", "net.ipv4.", "net.ipv6.", "net.netfilter.", "net.bridge.")
}

func ofFreeBSD(s study.Setting) bool {
	set := s.Setting()
	switch set.Mechanism {
	case setting.PF, setting.IPFW, setting.RC, setting.Loader:
		return true
	case setting.Firewall:
		return set.Rules.By == setting.ByPF || set.Rules.By == setting.ByIPFW
	}
	return set.Mechanism == setting.Sysctl && under(set.Name, "net.inet.", "net.inet6.", "net.isr.", "net.link.", "kern.", "hw.", "dev.")
}

func under(name string, trees ...string) bool {
	name = strings.ReplaceAll(name, "/", ".")
	return slices.ContainsFunc(trees, func(tree string) bool { return strings.HasPrefix(name, tree) })
}
