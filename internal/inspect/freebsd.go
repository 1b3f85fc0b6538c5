package inspect

import (
	"cmp"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
)

// freebsd inspects a FreeBSD host: the running one where there is one, then
// its files.
func (in *inspection) freebsd() {
	in.freebsdFiles()
}

// freebsdFiles reads the configuration in the system's own order.
func (in *inspection) freebsdFiles() {
	loader := freebsd.ReadLoader(in, in.f.Release)
	sysctl := freebsd.ReadSysctlConf(in)
	rc := freebsd.ReadRC(in)
	for _, c := range []freebsd.Config{loader, sysctl, rc} {
		in.f.AddLines(c.Lines)
		in.f.Problems = append(in.f.Problems, c.Problems...)
		in.f.Sources = append(in.f.Sources, c.Ignored...)
	}
	in.f.Normalise() // from here on settings can be looked up
	in.addModules(freebsd.LoadedByLoader(loader.Lines))
	in.addModules(rc.Modules())
	freebsd.AddRCInterfaces(in.f, rc)
	in.freebsdFirewall()
}

// freebsdFirewall reads the rulesets that rc.conf names; those lying about
// unused are read too, and say that they are not configured.
func (in *inspection) freebsdFirewall() {
	fw := &in.f.Firewall
	pf := fact.PF{Configured: in.f.RCYes("pf_enable")}
	if fw.PF != nil {
		pf = *fw.PF
	}
	in.f.Problems = append(in.f.Problems, freebsd.ReadPF(in, in.rcPath("pf_rules", "/etc/pf.conf"), &pf)...)
	if pf.Configured || pf.File != "" || pf.Enabled != nil {
		fw.PF = &pf
	}
	in.ipfwFiles()
	in.ipfFiles()
}

func (in *inspection) ipfwFiles() {
	ipfw := fact.IPFW{Configured: in.f.RCYes("firewall_enable")}
	if in.f.Firewall.IPFW != nil {
		ipfw = *in.f.Firewall.IPFW
	}
	ipfw.Type, _ = in.f.RCValue("firewall_type")
	script := in.rcPath("firewall_script", "/etc/ipfw.rules")
	if script == "/etc/rc.firewall" {
		script = "/etc/ipfw.rules"
		if len(ipfw.Type) > 0 && ipfw.Type[0] == '/' {
			script = ipfw.Type
		}
	}
	in.f.Problems = append(in.f.Problems, freebsd.ReadIPFW(in, script, &ipfw)...)
	if in.f.RCYes("firewall_nat_enable") || in.f.RCYes("natd_enable") {
		ipfw.NAT++
		s, ok := in.f.RCSetting("firewall_nat_enable")
		if !ok || !in.f.RCYes("firewall_nat_enable") {
			s, _ = in.f.RCSetting("natd_enable")
		}
		if l, ok := s.EffectiveLine(fact.RCConf); ok {
			ipfw.NATLines = append(ipfw.NATLines, l)
		}
	}
	if ipfw.Configured || ipfw.File != "" || ipfw.Enabled != nil {
		in.f.Firewall.IPFW = &ipfw
	}
}

func (in *inspection) ipfFiles() {
	ipf := fact.IPF{Configured: in.f.RCYes("ipfilter_enable")}
	if text, err := in.Read(in.rcPath("ipfilter_rules", "/etc/ipf.rules")); err == nil {
		ipf.File, ipf.Rules = in.rcPath("ipfilter_rules", "/etc/ipf.rules"), freebsd.CountIPF(text)
	}
	if text, err := in.Read(in.rcPath("ipnat_rules", "/etc/ipnat.rules")); err == nil {
		ipf.NAT = freebsd.CountIPF(text)
	}
	if ipf.Configured || ipf.File != "" {
		in.f.Firewall.IPF = &ipf
	}
}

// rcPath is a path that rc.conf may change.
func (in *inspection) rcPath(name, otherwise string) string {
	v, _ := in.f.RCValue(name)
	return cmp.Or(v, otherwise)
}
