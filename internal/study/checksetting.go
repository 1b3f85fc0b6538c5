package study

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/setting"
)

// Limits of what settings build.
const (
	maxHops        = 16
	maxPolicyRules = 10_000
	maxCPUs        = 1024
)

func (s Setting) check(path string) *Problem {
	given := s.mechanisms()
	if len(given) != 1 {
		return Wrong(path, "a setting has exactly one of %s; this one has %d", strings.Join(mechanismKeys(), ", "), len(given)).
			Advise("begin each setting with a dash of its own, and one of these")
	}
	m := given[0]
	if p := s.checkBeside(path, m); p != nil || m.check == nil {
		return p
	}
	return m.check(s, path+"."+m.key)
}

// checkBeside checks the keys that complete a mechanism.
func (s Setting) checkBeside(path string, m mechanism) *Problem {
	switch {
	case len(s.Undo) > 0 && m.key != "command":
		return Wrong(path+".undo", "only a command has an undo: all else knows its own")
	case s.Scope != "" && s.Scope != ScopeHost:
		return Wrong(path+".scope", "unknown scope %q", s.Scope).Advise("known: host (global to the kernel), or none")
	case m.valued && s.Value == "":
		return Wrong(path, "the setting has no value").Advise("add a line, value: …")
	case !m.valued && s.Value != "":
		return Wrong(path+".value", "this kind of setting takes no value")
	}
	return s.checkWhere(path, m.key)
}

// ends are the devices of a DUT by their role. A live host has devices of its own.
var ends = []string{"ingress", "egress"}

// deviceRE is an interface's name (dev_valid_name of net/core/dev.c; ifconfig(8)).
var deviceRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}$`)

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
		if !deviceRE.MatchString(s.Device) {
			return OneOf(path+".device", s.Device, ends...)
		}
	case s.Device != "":
		return Wrong(path+".device", "only link, napi and route settings have a device")
	}
	return nil
}

// Links are what can join the routers of hops, beside plain wires.
var Links = []string{"vlan", "gre", "ipip", "vxlan", "wireguard", "ipsec"}

func (s Setting) checkHops(path string) *Problem {
	if p := Within(path, s.Hops, 1, maxHops); p != nil || s.Over == "" {
		return p
	}
	return OneOf(strings.TrimSuffix(path, "hops")+"over", s.Over, Links...)
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
