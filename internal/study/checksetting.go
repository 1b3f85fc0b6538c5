package study

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/setting"
)

// kinds tells which mechanisms a setting names, in the order of messages.
func (s Setting) kinds() (given []string) {
	for _, k := range []struct {
		name string
		is   bool
	}{
		{"sysctl", s.Sysctl != ""}, {"nft", s.NFT != nil}, {"firewall", s.Firewall != nil}, {"route", s.Route != ""}, {"routes", s.Routes != nil},
		{"hops", s.Hops != 0}, {"forward", s.Forward != ""}, {"policy_rules", s.PolicyRules != 0}, {"cpus", s.CPUs != 0},
		{"link", s.Link != ""}, {"napi", s.NAPI != ""}, {"tcp", s.TCP != nil}, {"nginx", s.NGINX != ""}, {"postfix", s.Postfix != ""}, {"filesystem", s.FileSystem != nil}, {"command", len(s.Command) > 0},
		{"files", s.Files != ""}, {"rc", s.RC != ""}, {"loader", s.Loader != ""}, {"image", s.Image != ""}, {"pf", s.PF != nil}, {"ipfw", s.IPFW != nil},
	} {
		if k.is {
			given = append(given, k.name)
		}
	}
	return given
}

// Limits of what settings build.
const (
	maxHops        = 16
	maxPolicyRules = 10_000
	maxCPUs        = 1024
)

func (s Setting) check(path string) *Problem {
	given := s.kinds()
	if len(given) != 1 {
		return Wrong(path, "a setting has exactly one of sysctl, nft, firewall, route, routes, hops, forward, policy_rules, cpus, link, napi, tcp, nginx, postfix, filesystem, command, files, rc, loader, image, pf, ipfw; this one has %d", len(given)).
			Advise("begin each setting with a dash of its own, and one of these")
	}
	if p := s.checkBeside(path, given[0]); p != nil {
		return p
	}
	switch given[0] {
	case "route":
		return checkRoute(path+".route", s.Route)
	case "nft":
		return s.NFT.check(path + ".nft")
	case "pf":
		return s.PF.check(path + ".pf")
	case "ipfw":
		return s.IPFW.check(path + ".ipfw")
	case "firewall":
		return s.Firewall.check(path + ".firewall")
	case "routes":
		return s.Routes.check(path + ".routes")
	case "hops":
		return s.checkHops(path)
	case "forward":
		return OneOf(path+".forward", s.Forward, setting.ForwardXDP, setting.ForwardBridge)
	case "tcp":
		return s.TCP.check(path + ".tcp")
	case "nginx":
		return s.checkNGINX(path)
	case "postfix":
		return s.checkPostfix(path)
	case "filesystem":
		return s.FileSystem.check(path + ".filesystem")
	case "cpus":
		return Within(path+".cpus", s.CPUs, 1, maxCPUs)
	case "policy_rules":
		return Within(path+".policy_rules", s.PolicyRules, 1, maxPolicyRules)
	}
	return nil
}

// checkBeside checks the keys that complete a kind.
func (s Setting) checkBeside(path, kind string) *Problem {
	valued := slices.Contains([]string{"sysctl", "link", "napi", "nginx", "postfix", "rc", "loader"}, kind)
	switch {
	case len(s.Undo) > 0 && kind != "command":
		return Wrong(path+".undo", "only a command has an undo: all else knows its own")
	case s.Scope != "" && s.Scope != ScopeHost:
		return Wrong(path+".scope", "unknown scope %q", s.Scope).Advise("known: host (global to the kernel), or none")
	case valued && s.Value == "":
		return Wrong(path, "the setting has no value").Advise("add a line, value: …")
	case !valued && s.Value != "":
		return Wrong(path+".value", "this kind of setting takes no value")
	}
	return s.checkWhere(path, kind)
}

// checkWhere checks the keys that say where a setting applies.
func (s Setting) checkWhere(path, kind string) *Problem {
	switch {
	case (kind == "route") != (s.Via != ""):
		return Wrong(path, "a route has a next hop and nothing else has").Advise("add via: ADDRESS, ingress, egress or blackhole to the route")
	case s.Over != "" && kind != "hops":
		return Wrong(path+".over", "only hops go over something")
	case kind == "napi" && !slices.Contains(setting.NAPINames, s.NAPI):
		return OneOf(path+".napi", s.NAPI, setting.NAPINames...)
	case kind == "link" || kind == "napi", kind == "route" && s.Device != "":
		return OneOf(path+".device", s.Device, "ingress", "egress")
	case s.Device != "":
		return Wrong(path+".device", "only link, napi and route settings have a device")
	}
	return nil
}

// Links are what can join the routers of hops, beside plain wires.
var Links = []string{"vlan", "gre", "ipip", "vxlan", "wireguard", "ipsec"}

func (s Setting) checkHops(path string) *Problem {
	if p := Within(path+".hops", s.Hops, 1, maxHops); p != nil || s.Over == "" {
		return p
	}
	return OneOf(path+".over", s.Over, Links...)
}

func (f *Firewall) check(path string) *Problem {
	switch {
	case f.Linear == 0 && f.Table == 0 && f.Map == 0 && !f.Stateful:
		return Wrong(path, "the firewall does nothing").Advise("give linear, table, map or stateful")
	case f.Optimise && f.Linear == 0:
		return Wrong(path+".optimise", "there are no linear rules to merge").Advise("add linear: N")
	}
	return cmp.Or(
		Within(path+".linear", f.Linear, 0, maxRules),
		Within(path+".table", f.Table, 0, maxElements),
		Within(path+".map", f.Map, 0, maxElements),
		OneOf(path+".by", cmp.Or(f.By, setting.ByNFT), setting.ByNFT, setting.ByIptablesLegacy, setting.ByIptablesNFT, setting.ByPF, setting.ByIPFW),
	)
}

func (r *Routes) check(path string) *Problem {
	return cmp.Or(Within(path+".count", r.Count, 1, maxRoutes), OneOf(path+".mix", cmp.Or(r.Mix, setting.MixHosts), setting.MixHosts, setting.MixFull))
}

// checkRoute checks PREFIX or PREFIX*COUNT.
func checkRoute(path, route string) *Problem {
	prefix, times, many := strings.Cut(route, "*")
	if _, err := netip.ParsePrefix(prefix); err != nil {
		return Wrong(path, "route %q is not a prefix", route).Advise("write 240.0.0.0/8, or 240.0.0.0/8*1000 for a thousand host routes of it")
	}
	if n, err := strconv.Atoi(times); many && (err != nil || n < 1 || n > maxRoutes) {
		return Wrong(path, "route %q: the count is not within 1 and %d", route, maxRoutes)
	}
	return nil
}

func (r *Ruleset) check(path string) *Problem {
	generated := r.Linear != 0 || r.SetElements != 0 || r.Stateful
	switch {
	case r.Text != "" && generated:
		return Wrong(path, "a ruleset is written out or generated, not both").Advise("keep text, or linear/set_elements/stateful")
	case r.Text == "" && !generated:
		return Wrong(path, "the ruleset is empty").Advise("give text, linear, set_elements or stateful")
	}
	return cmp.Or(Within(path+".linear", r.Linear, 0, maxRules), Within(path+".set_elements", r.SetElements, 0, maxElements))
}
