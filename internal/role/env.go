package role

import (
	"slices"
	"strings"

	"linerate/internal/fact"
)

// Env is what the expressions of roles.yaml see of a host. What is not known
// is false, 0 or "": a role is guessed from what is there.
func Env(f *fact.Facts) map[string]any {
	env := map[string]any{
		"os": f.OS,
		// forwarding: packets are forwarded between interfaces.
		"forwarding": Forwards(f),
		// Packets the host forwarded and received for itself since boot.
		"forwarded": count(f, "ip.forwarded") + count(f, "ip6.forwarded"),
		"delivered": count(f, "ip.delivered") + count(f, "ip6.delivered"),
		// text: a setting's value, running or as files set it.
		"text":    func(name string) string { v, _ := f.Value(name); return strings.TrimSpace(v) },
		"rc":      f.RCYes,
		"service": func(name string) bool { return runs(f, name) },
		"listens": func(port int) bool {
			return slices.ContainsFunc(f.Listeners, func(l fact.Listener) bool { return l.Port == port && !l.Local })
		},
		"module": func(name string) bool {
			m, ok := f.Module(name)
			return ok && (m.InKernel || m.Loaded != nil && *m.Loaded || m.Loaded == nil && len(m.Lines) > 0)
		},
		"has_nic": func(driver string) bool {
			return slices.ContainsFunc(f.NICs, func(n fact.NIC) bool {
				return n.Driver == driver && (n.Up == nil || *n.Up)
			})
		},
		"webserver": slices.ContainsFunc([]string{"nginx", "apache", "haproxy", "varnish"}, func(s string) bool { return runs(f, s) }),
	}
	addPorts(env, f)
	addFirewall(env, f)
	return env
}

// Forwards reports whether the host forwards IPv4 or IPv6 packets. The
// running value decides where it is known; else files do.
func Forwards(f *fact.Facts) bool {
	known := false
	for _, n := range []string{"net.inet.ip.forwarding", "net.inet6.ip6.forwarding", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"} {
		if v, ok := f.LiveValue(n); ok {
			known = true
			if strings.TrimSpace(v) == "1" {
				return true
			}
		}
	}
	if known {
		return false
	}
	for _, n := range []string{"net.inet.ip.forwarding", "net.inet6.ip6.forwarding", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"} {
		if v, ok := f.Value(n); ok && strings.TrimSpace(v) == "1" {
			return true
		}
	}
	return f.RCYes("gateway_enable") || f.RCYes("ipv6_gateway_enable")
}

func count(f *fact.Facts, name string) int {
	c, _ := f.Counter(name)
	return int(min(c.Value, 1<<62))
}

func runs(f *fact.Facts, name string) bool {
	return slices.ContainsFunc(f.Services, func(s fact.Service) bool { return s.Name == name && s.Enabled != nil && *s.Enabled })
}

// addPorts counts hardware ports: fastest link, with addresses, in bridges.
func addPorts(env map[string]any, f *fact.Facts) {
	link, addressed, bridged := 0, 0, 0
	hardware := map[string]bool{}
	for _, n := range f.NICs {
		if n.Kind == fact.KindEthernet {
			hardware[n.Name] = true
			link = max(link, int(min(n.SpeedBits, 1<<62)))
			if n.IPv4+n.IPv6 > 0 {
				addressed++
			}
		}
	}
	for _, n := range f.NICs {
		if n.Kind == fact.KindBridge {
			for _, m := range n.Members {
				if hardware[m] {
					bridged++
				}
			}
		}
	}
	env["ports"], env["link"], env["addressed_ports"], env["bridged_ports"] = len(hardware), link, addressed, bridged
}

// addFirewall says which packet filters are on: running where that is known,
// configured otherwise.
func addFirewall(env map[string]any, f *fact.Facts) {
	fw := f.Firewall
	pf, ipfw, ipf, nft := fw.PF, fw.IPFW, fw.IPF, fw.NFT
	env["pf_on"], env["pf_nat"] = false, 0
	if pf != nil {
		on := pf.Configured
		if pf.Enabled != nil {
			on = *pf.Enabled
		}
		env["pf_on"] = on
		if on {
			env["pf_nat"] = pf.Translations
		}
	}
	env["ipfw_on"], env["ipfw_nat"] = false, 0
	if ipfw != nil {
		on := ipfw.Configured || ipfw.Enabled != nil && *ipfw.Enabled && ipfw.Rules > 0
		env["ipfw_on"] = on
		if on {
			env["ipfw_nat"] = ipfw.NAT
		}
	}
	env["ipf_on"] = ipf != nil && ipf.Configured
	env["nft_tracking"] = nft != nil && nft.Tracking != nil && *nft.Tracking
	env["nft_rules"] = 0
	if nft != nil {
		env["nft_rules"] = nft.Rules
	}
}
