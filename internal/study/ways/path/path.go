// Package path has the ways of setting which way packets take: routes, further routers,
// what forwards instead of routing, and how TCP treats the path to its clients.
package path

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"linerate/internal/setting"
	"linerate/internal/study"
)

// Limits of what settings build.
const (
	maxRoutes      = 1 << 20
	maxHops        = 16
	maxPolicyRules = 10_000
	// maxInitialWindow is more segments than 64 KiB need, without which window
	// scaling has not begun.
	maxInitialWindow = 1000
)

// Route adds a route, or as many host routes of its prefix as are asked for.
type Route struct {
	study.PlainWay
	Route string `yaml:"route,omitempty"`            // PREFIX or PREFIX*COUNT
	Via   string `yaml:"via,omitempty" after:"undo"` // a route's next hop
}

// Needs satisfies study.Way.
func (*Route) Needs() study.Needs { return study.Needs{MayDevice: true} }

// Set satisfies study.Way.
func (w *Route) Set(to *setting.Setting) {
	to.Mechanism, to.Name, to.Value = setting.Route, w.Route, w.Via
}

// Check satisfies study.Way.
func (w *Route) Check(_ study.Setting, path string) *study.Problem {
	if w.Via == "" {
		return study.Wrong(path, "the route has no next hop").Advise("add via: ADDRESS, ingress, egress or blackhole")
	}
	path += ".route"
	prefix, times, many := strings.Cut(w.Route, "*")
	if _, err := netip.ParsePrefix(prefix); err != nil {
		return study.Wrong(path, "route %q is not a prefix", w.Route).Advise("write 240.0.0.0/8, or 240.0.0.0/8*1000 for a thousand host routes of it")
	}
	if n, err := strconv.Atoi(times); many && (err != nil || n < 1 || n > maxRoutes) {
		return study.Wrong(path, "route %q: the count is not within 1 and %d", w.Route, maxRoutes)
	}
	return nil
}

// Names satisfies study.Way.
func (w *Route) Names(study.Setting) map[string]string {
	return map[string]string{"route": w.Route}
}

// Table is a routing table of a size.
type Table struct {
	Count int `yaml:"count"`
	// Mix is "hosts" (host routes, one after the other) or "full" (the
	// prefix lengths of a full BGP table).
	Mix string `yaml:"mix,omitempty"`
	// Miss leaves the workload's destinations without a route of their own.
	Miss bool `yaml:"miss,omitempty"`
}

// Routes fills the routing table.
type Routes struct {
	study.PlainWay
	Routes *Table `yaml:"routes,omitempty"`
}

// Set satisfies study.Way.
func (w *Routes) Set(to *setting.Setting) {
	t := setting.Table(*w.Routes)
	to.Mechanism, to.Table = setting.Routes, &t
}

// Check satisfies study.Way.
func (w *Routes) Check(_ study.Setting, path string) *study.Problem {
	return cmp.Or(study.Within(path+".routes.count", w.Routes.Count, 1, maxRoutes),
		study.OneOf(path+".routes.mix", cmp.Or(w.Routes.Mix, setting.MixHosts), setting.MixHosts, setting.MixFull))
}

// Names satisfies study.Way.
func (w *Routes) Names(s study.Setting) map[string]string {
	return map[string]string{"routes": s.Setting().Table.String()}
}

// Links are what can join the routers of hops, beside plain wires.
var Links = []string{"vlan", "gre", "ipip", "vxlan", "wireguard", "ipsec"}

// Hops puts further routers behind the DUT.
type Hops struct {
	study.PlainWay
	// Hops are further routers behind the DUT's first.
	Hops int    `yaml:"hops,omitempty"`
	Over string `yaml:"over,omitempty" after:"device"` // what joins hops: "vlan", "gre", "wireguard" …
}

// Set satisfies study.Way.
func (w *Hops) Set(to *setting.Setting) {
	to.Mechanism, to.Name, to.Value = setting.Hops, w.Over, strconv.Itoa(w.Hops)
}

// Check satisfies study.Way.
func (w *Hops) Check(_ study.Setting, path string) *study.Problem {
	if p := study.Within(path+".hops", w.Hops, 1, maxHops); p != nil || w.Over == "" {
		return p
	}
	return study.OneOf(path+".over", w.Over, Links...)
}

// Names satisfies study.Way.
func (w *Hops) Names(study.Setting) map[string]string {
	return map[string]string{"hops": strings.TrimSpace(fmt.Sprint(w.Hops, " ", w.Over))}
}

// Forward has something else forward than the kernel's routing.
type Forward struct {
	study.PlainWay
	// Forward is what forwards instead of the kernel's routing: "xdp" or "bridge".
	Forward string `yaml:"forward,omitempty"`
}

// Set satisfies study.Way.
func (w *Forward) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.Forward, w.Forward }

// Check satisfies study.Way.
func (w *Forward) Check(_ study.Setting, path string) *study.Problem {
	return study.OneOf(path+".forward", w.Forward, setting.ForwardXDP, setting.ForwardBridge)
}

// Names satisfies study.Way.
func (w *Forward) Names(study.Setting) map[string]string {
	return map[string]string{"forward": w.Forward}
}

// PolicyRules adds rules of policy routing that never match.
type PolicyRules struct {
	study.PlainWay
	PolicyRules int `yaml:"policy_rules,omitempty"`
}

// Set satisfies study.Way.
func (w *PolicyRules) Set(to *setting.Setting) {
	to.Mechanism, to.Value = setting.PolicyRules, strconv.Itoa(w.PolicyRules)
}

// Check satisfies study.Way.
func (w *PolicyRules) Check(_ study.Setting, path string) *study.Problem {
	return study.Within(path+".policy_rules", w.PolicyRules, 1, maxPolicyRules)
}

// Names satisfies study.Way.
func (w *PolicyRules) Names(study.Setting) map[string]string {
	return map[string]string{"policy_rules": strconv.Itoa(w.PolicyRules)}
}

// Treatment is how a server's TCP treats the path to its clients.
type Treatment struct {
	InitCwnd   int    `yaml:"initcwnd,omitempty"`   // initial window, in segments
	InitRwnd   int    `yaml:"initrwnd,omitempty"`   // initial receive window, in segments
	Congestion string `yaml:"congestion,omitempty"` // its control: "cubic", "bbr", "reno"
	ULP        string `yaml:"ulp,omitempty"`        // an upper-layer protocol that the kernel must have: "tls"
}

// TCP sets how a server's TCP treats the path to its clients.
type TCP struct {
	study.PlainWay
	// TCP is how the server treats the path to its clients.
	TCP *Treatment `yaml:"tcp,omitempty,flow"`
}

// Set satisfies study.Way.
func (w *TCP) Set(to *setting.Setting) {
	t := setting.Path(*w.TCP)
	to.Mechanism, to.Path = setting.TCP, &t
}

var congestionRE = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Check satisfies study.Way.
func (w *TCP) Check(_ study.Setting, path string) *study.Problem {
	path += ".tcp"
	t := *w.TCP
	switch {
	case t == Treatment{}:
		return study.Wrong(path, "the setting sets nothing").Advise("give initcwnd, initrwnd, congestion or ulp")
	case t.InitCwnd < 0 || t.InitCwnd > maxInitialWindow:
		return study.Wrong(path+".initcwnd", "initcwnd: %d is not within 1 and %d segments", t.InitCwnd, maxInitialWindow)
	case t.InitRwnd < 0 || t.InitRwnd > maxInitialWindow:
		return study.Wrong(path+".initrwnd", "initrwnd: %d is not within 1 and %d segments", t.InitRwnd, maxInitialWindow)
	case t.Congestion != "" && !congestionRE.MatchString(t.Congestion):
		return study.Wrong(path+".congestion", "congestion %q is no name of a congestion control", t.Congestion)
	}
	return study.OneOf(path+".ulp", t.ULP, "", "tls")
}

// Names satisfies study.Way.
func (w *TCP) Names(study.Setting) map[string]string {
	out, t := map[string]string{}, *w.TCP
	for name, value := range map[string]string{"tcp:congestion": t.Congestion, "tcp:ulp": t.ULP, "tcp:initcwnd": counted(t.InitCwnd), "tcp:initrwnd": counted(t.InitRwnd)} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

func counted(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
