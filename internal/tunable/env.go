package tunable

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// Env is what the expressions of the catalogue and of the audit's rules see:
// numbers in base units (bytes, seconds, bits per second, counts), texts, and
// functions over the host's settings. NewEnv makes one of facts, Vector.env
// one of a worked example; both have the same names.
type Env map[string]any

// blank is an Env of a host of which nothing is known. It fixes the names and
// the types that expressions are checked against.
func blank() Env {
	no := func(string) bool { return false }
	return Env{
		// The host.
		"os": "", "arch": "", "major": 0, "minor": 0, "hypervisor": "", "vm": false, "role": "",
		// Processors and memory, in bytes.
		"cpus": 0, "cores": 0, "threads_per_core": 0, "domains": 0,
		"memory": 0, "real_memory": 0, "page": 4096, "pages": 0, "kmem": 0,
		// Network interfaces: drivers of the hardware ones, the fastest link.
		"drivers": []string{}, "ports": 0, "link": 0, "nic_queues": 0,
		// Firewalls and forwarding.
		"pf": false, "pf_rules": 0, "pf_source_tracking": 0, "pf_nat": 0,
		"ipfw": false, "ipfw_stateful": 0, "ipfw_nat": 0, "ipfw_pipes": 0,
		"forwarding": false,
		// This tunable's value and a coupled one's, as numbers; and as texts.
		"this": 0.0, "other": 0.0, "this_text": "", "other_text": "",
		// Functions over settings. value: the number a tunable has or would
		// have (its default where nobody sets it), 0 if not known; text the
		// same as text; is_set: a file of the host sets it; rc: a switch of
		// rc.conf is on.
		"value":   func(string) float64 { return 0 },
		"text":    func(string) string { return "" },
		"known":   func(string) bool { return true }, // whether value() knows more than 0
		"is_set":  no,
		"rc":      no,
		"module":  no, // loaded or configured
		"driver":  no, // some interface has it
		"enabled": no, // an offload (LRO, TSO4 …) is on, on some hardware interface
		"service": no, // a daemon is enabled
		"mounted": no, // a file system of this type is mounted or in fstab
		// Releases, and arithmetic that expressions lack.
		"at_least": func(int, int) bool { return false },
		// harvest_default: HarvestDefault of the release.
		"harvest_default": func() float64 { return 0 },
		"div":             div,
	}
}

// div is the integer division of C: it truncates, and is 0 by 0. Its
// arguments are numbers of any kind.
func div(a, b any) float64 {
	x, _ := asFloat(a)
	y, _ := asFloat(b)
	if int64(y) == 0 {
		return 0
	}
	return float64(int64(x) / int64(y))
}

// NewEnv is the environment of a host with a role. c answers value() for
// tunables that nobody set, by their defaults.
func (c *Catalogue) NewEnv(f *fact.Facts, role string) Env {
	e := blank()
	rel := f.Release
	vm := f.Hypervisor != "" && f.Hypervisor != "none"
	maps.Copy(e, Env{
		"os": f.OS, "arch": f.Arch, "hypervisor": f.Hypervisor, "vm": vm, "role": role,
		"cpus": f.CPU.Count, "cores": f.CPU.Cores, "threads_per_core": f.CPU.ThreadsPerCore, "domains": len(f.CPU.Domains),
		"memory": int(f.Memory.Physical), "real_memory": int(f.Memory.Real), "kmem": int(f.Memory.KernelMap),
	})
	if p := int(f.Memory.PageSize); p > 0 {
		e["page"] = p
	}
	e["pages"] = e["memory"].(int) / e["page"].(int)
	e.setRelease(rel)
	e.setNICs(f)
	e.setFirewall(f)
	e["forwarding"] = forwards(f)
	e["value"] = func(name string) float64 { return toNumber(c.textOf(f, e, name)) }
	e["text"] = func(name string) string { return c.textOf(f, e, name) }
	e["known"] = func(name string) bool { return c.textOf(f, e, name) != "" }
	e["is_set"] = func(name string) bool { return isSet(f, name) }
	e["rc"] = f.RCYes
	e["module"] = func(name string) bool { return hasModule(f, name) }
	e["service"] = func(name string) bool { return hasService(f, name) }
	e["mounted"] = func(kind string) bool {
		return slices.ContainsFunc(f.Mounts, func(m fact.Mount) bool { return m.Type == kind })
	}
	return e
}

func (e Env) setRelease(rel release.Release) {
	e["major"], e["minor"] = rel.Major, rel.Minor
	e["at_least"] = rel.AtLeast
	e["harvest_default"] = func() float64 { return float64(HarvestDefault(rel)) }
}

func (e Env) setNICs(f *fact.Facts) {
	var drivers []string
	ports, link, queues := 0, 0, 0
	on := map[string]bool{}
	for _, n := range f.NICs {
		if n.Kind != fact.KindEthernet && n.Kind != "" {
			continue
		}
		ports++
		if n.Driver != "" && !slices.Contains(drivers, n.Driver) {
			drivers = append(drivers, n.Driver)
		}
		link, queues = max(link, int(n.SpeedBits)), max(queues, n.RXQueues)
		for _, o := range n.Options {
			on[o] = true
		}
	}
	slices.Sort(drivers)
	e["drivers"], e["ports"], e["link"], e["nic_queues"] = drivers, ports, link, queues
	e["driver"] = func(name string) bool { return slices.Contains(drivers, name) }
	e["enabled"] = func(option string) bool { return on[option] }
}

func (e Env) setFirewall(f *fact.Facts) {
	if pf := f.Firewall.PF; pf != nil {
		e["pf"] = pf.Configured || pf.Enabled != nil && *pf.Enabled
		e["pf_rules"], e["pf_source_tracking"], e["pf_nat"] = pf.Rules, pf.SourceTracking, pf.Translations
	}
	if fw := f.Firewall.IPFW; fw != nil {
		e["ipfw"] = fw.Configured || fw.Enabled != nil && *fw.Enabled
		e["ipfw_stateful"], e["ipfw_nat"], e["ipfw_pipes"] = fw.Stateful, fw.NAT, fw.Pipes
	}
}

// forwards reports whether the host forwards packets between interfaces.
func forwards(f *fact.Facts) bool {
	for _, n := range []string{"net.inet.ip.forwarding", "net.inet6.ip6.forwarding", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"} {
		if v, ok := f.Value(n); ok && strings.TrimSpace(v) == "1" {
			return true
		}
	}
	return f.RCYes("gateway_enable") || f.RCYes("ipv6_gateway_enable")
}

// textOf is a tunable's value: running, else what the files set, else its
// default on this release.
func (c *Catalogue) textOf(f *fact.Facts, e Env, name string) string {
	if v, ok := f.Value(name); ok {
		return v
	}
	r, ok := c.Lookup(f.OS, name)
	if !ok {
		return ""
	}
	d, _ := r.defaultIn(f.Release, e)
	return d
}

func isSet(f *fact.Facts, name string) bool {
	for _, find := range []func(string) (fact.Setting, bool){f.Setting, f.RCSetting} {
		s, ok := find(name)
		if ok && slices.ContainsFunc(s.Lines, func(l fact.Line) bool { return !l.Default }) {
			return true
		}
	}
	return false
}

func hasModule(f *fact.Facts, name string) bool {
	m, ok := f.Module(name)
	return ok && (m.InKernel || m.Loaded != nil && *m.Loaded || len(m.Lines) > 0)
}

func hasService(f *fact.Facts, name string) bool {
	return slices.ContainsFunc(f.Services, func(s fact.Service) bool {
		return s.Name == name && s.Enabled != nil && *s.Enabled
	})
}

// toNumber reads a setting's text as a number; 0 when it is none.
func toNumber(s string) float64 {
	n, ok := ParseInteger(strings.TrimSpace(s))
	if !ok {
		return 0
	}
	f, _ := n.Float64()
	return f
}
