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

func (s Setting) check(path string) *problem {
	given := s.kinds()
	if len(given) != 1 {
		return wrong(path, "a setting has exactly one of sysctl, nft, firewall, route, routes, hops, forward, policy_rules, cpus, link, napi, tcp, nginx, postfix, filesystem, command, files, rc, loader, image, pf, ipfw; this one has %d", len(given)).
			advise("begin each setting with a dash of its own, and one of these")
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
		return oneOf(path+".forward", s.Forward, setting.ForwardXDP, setting.ForwardBridge)
	case "tcp":
		return s.TCP.check(path + ".tcp")
	case "nginx":
		return s.checkNGINX(path)
	case "postfix":
		return s.checkPostfix(path)
	case "filesystem":
		return s.FileSystem.check(path + ".filesystem")
	case "cpus":
		return within(path+".cpus", s.CPUs, 1, maxCPUs)
	case "policy_rules":
		return within(path+".policy_rules", s.PolicyRules, 1, maxPolicyRules)
	}
	return nil
}

// checkBeside checks the keys that complete a kind.
func (s Setting) checkBeside(path, kind string) *problem {
	valued := slices.Contains([]string{"sysctl", "link", "napi", "nginx", "postfix", "rc", "loader"}, kind)
	switch {
	case len(s.Undo) > 0 && kind != "command":
		return wrong(path+".undo", "only a command has an undo: all else knows its own")
	case s.Scope != "" && s.Scope != ScopeHost:
		return wrong(path+".scope", "unknown scope %q", s.Scope).advise("known: host (global to the kernel), or none")
	case valued && s.Value == "":
		return wrong(path, "the setting has no value").advise("add a line, value: …")
	case !valued && s.Value != "":
		return wrong(path+".value", "this kind of setting takes no value")
	}
	return s.checkWhere(path, kind)
}

// checkWhere checks the keys that say where a setting applies.
func (s Setting) checkWhere(path, kind string) *problem {
	switch {
	case (kind == "route") != (s.Via != ""):
		return wrong(path, "a route has a next hop and nothing else has").advise("add via: ADDRESS, ingress, egress or blackhole to the route")
	case s.Over != "" && kind != "hops":
		return wrong(path+".over", "only hops go over something")
	case kind == "napi" && !slices.Contains(setting.NAPINames, s.NAPI):
		return oneOf(path+".napi", s.NAPI, setting.NAPINames...)
	case kind == "link" || kind == "napi", kind == "route" && s.Device != "":
		return oneOf(path+".device", s.Device, "ingress", "egress")
	case s.Device != "":
		return wrong(path+".device", "only link, napi and route settings have a device")
	}
	return nil
}

// Links are what can join the routers of hops, beside plain wires.
var Links = []string{"vlan", "gre", "ipip", "vxlan", "wireguard", "ipsec"}

func (s Setting) checkHops(path string) *problem {
	if p := within(path+".hops", s.Hops, 1, maxHops); p != nil || s.Over == "" {
		return p
	}
	return oneOf(path+".over", s.Over, Links...)
}

func (f *Firewall) check(path string) *problem {
	switch {
	case f.Linear == 0 && f.Table == 0 && f.Map == 0 && !f.Stateful:
		return wrong(path, "the firewall does nothing").advise("give linear, table, map or stateful")
	case f.Optimise && f.Linear == 0:
		return wrong(path+".optimise", "there are no linear rules to merge").advise("add linear: N")
	}
	return cmp.Or(
		within(path+".linear", f.Linear, 0, maxRules),
		within(path+".table", f.Table, 0, maxElements),
		within(path+".map", f.Map, 0, maxElements),
		oneOf(path+".by", cmp.Or(f.By, setting.ByNFT), setting.ByNFT, setting.ByIptablesLegacy, setting.ByIptablesNFT, setting.ByPF, setting.ByIPFW),
	)
}

func (r *Routes) check(path string) *problem {
	return cmp.Or(within(path+".count", r.Count, 1, maxRoutes), oneOf(path+".mix", cmp.Or(r.Mix, setting.MixHosts), setting.MixHosts, setting.MixFull))
}

// checkRoute checks PREFIX or PREFIX*COUNT.
func checkRoute(path, route string) *problem {
	prefix, times, many := strings.Cut(route, "*")
	if _, err := netip.ParsePrefix(prefix); err != nil {
		return wrong(path, "route %q is not a prefix", route).advise("write 240.0.0.0/8, or 240.0.0.0/8*1000 for a thousand host routes of it")
	}
	if n, err := strconv.Atoi(times); many && (err != nil || n < 1 || n > maxRoutes) {
		return wrong(path, "route %q: the count is not within 1 and %d", route, maxRoutes)
	}
	return nil
}

func (r *Ruleset) check(path string) *problem {
	generated := r.Linear != 0 || r.SetElements != 0 || r.Stateful
	switch {
	case r.Text != "" && generated:
		return wrong(path, "a ruleset is written out or generated, not both").advise("keep text, or linear/set_elements/stateful")
	case r.Text == "" && !generated:
		return wrong(path, "the ruleset is empty").advise("give text, linear, set_elements or stateful")
	}
	return cmp.Or(within(path+".linear", r.Linear, 0, maxRules), within(path+".set_elements", r.SetElements, 0, maxElements))
}
