package study

import (
	"slices"
	"strconv"

	"linerate/internal/setting"
)

// ScopeHost marks a setting that is global to the kernel: it changes more
// than the testbed and needs the operator's consent.
const ScopeHost = "host"

// Setting is one thing a variant sets. Exactly one of the fields before Value
// is given and names the mechanism; those from Value on complete it.
type Setting struct {
	Sysctl string   `yaml:"sysctl,omitempty"`
	NFT    *Ruleset `yaml:"nft,omitempty"`
	// Firewall says what a packet filter is to do; each testbed has its own
	// way to do it.
	Firewall *Firewall `yaml:"firewall,omitempty"`
	Route    string    `yaml:"route,omitempty"` // PREFIX or PREFIX*COUNT
	Routes   *Routes   `yaml:"routes,omitempty"`
	// Hops are further routers behind the DUT's first.
	Hops int `yaml:"hops,omitempty"`
	// Forward is what forwards instead of the kernel's routing: "xdp" or "bridge".
	Forward string `yaml:"forward,omitempty"`
	// CPUs are what the work of the ingress is spread over.
	CPUs        int      `yaml:"cpus,omitempty"`
	PolicyRules int      `yaml:"policy_rules,omitempty"`
	Link        string   `yaml:"link,omitempty"`
	NAPI        string   `yaml:"napi,omitempty"`
	Command     []string `yaml:"command,omitempty,flow"`
	// TCP is how the server treats the path to its clients, NGINX a directive
	// of the web server, Postfix a parameter of the mail server, and
	// FileSystem what files, or mail, are on.
	TCP        *TCP        `yaml:"tcp,omitempty,flow"`
	NGINX      string      `yaml:"nginx,omitempty"`
	Postfix    string      `yaml:"postfix,omitempty"`
	FileSystem *FileSystem `yaml:"filesystem,omitempty,flow"`
	// Of testbeds of machines: a configuration set (a directory beside the
	// study, laid over the DUT's root), a variable of rc.conf or loader.conf,
	// and rulesets.
	Files  string   `yaml:"files,omitempty"`
	RC     string   `yaml:"rc,omitempty"`
	Loader string   `yaml:"loader,omitempty"`
	Image  string   `yaml:"image,omitempty"` // booted once: a boot environment, a kernel, an entry of GRUB's
	PF     *Ruleset `yaml:"pf,omitempty"`
	IPFW   *Ruleset `yaml:"ipfw,omitempty"`
	Value  string   `yaml:"value,omitempty"`
	Undo   []string `yaml:"undo,omitempty,flow"` // takes a command back
	Via    string   `yaml:"via,omitempty"`       // a route's next hop
	Device string   `yaml:"device,omitempty"`    // "ingress" or "egress"
	Over   string   `yaml:"over,omitempty"`      // what joins hops: "vlan", "gre", "wireguard" …
	Scope  string   `yaml:"scope,omitempty"`     // "host" or nothing
}

// Firewall is a packet filter by what it does: rules in a row that never match,
// one lookup in a table that never matches, and tracking of connections.
type Firewall struct {
	Linear   int  `yaml:"linear,omitempty"`
	Table    int  `yaml:"table,omitempty"`    // addresses in one set
	Map      int  `yaml:"map,omitempty"`      // addresses in one map to verdicts
	Stateful bool `yaml:"stateful,omitempty"` // established accepted, new accepted
	// By is the program, where the testbed has several: "nft",
	// "iptables-legacy", "iptables-nft"; on FreeBSD "pf", "ipfw". "" is its
	// usual one.
	By string `yaml:"by,omitempty"`
	// Optimise has the program merge the rules that it can (nft -o).
	Optimise bool `yaml:"optimise,omitempty"`
}

// Routes is a routing table of a size.
type Routes struct {
	Count int `yaml:"count"`
	// Mix is "hosts" (host routes, one after the other) or "full" (the
	// prefix lengths of a full BGP table).
	Mix string `yaml:"mix,omitempty"`
	// Miss leaves the workload's destinations without a route of their own.
	Miss bool `yaml:"miss,omitempty"`
}

// Ruleset is an nftables ruleset: text in nft's language, or generated.
type Ruleset struct {
	Text        string `yaml:"text,omitempty"`
	Linear      int    `yaml:"linear,omitempty"`
	SetElements int    `yaml:"set_elements,omitempty"`
	Stateful    bool   `yaml:"stateful,omitempty"`
}

// Setting returns what the testbed is to set.
func (s Setting) Setting() setting.Setting {
	out := setting.Setting{Value: s.Value, Device: s.Device}
	switch {
	case s.Sysctl != "":
		out.Mechanism, out.Name = setting.Sysctl, s.Sysctl
	case s.NFT != nil:
		out.Mechanism = setting.NFT
		out.Rules = &setting.Rules{Text: s.NFT.Text, Linear: s.NFT.Linear, SetElements: s.NFT.SetElements, Stateful: s.NFT.Stateful}
	case s.Firewall != nil:
		f := *s.Firewall
		out.Mechanism = setting.Firewall
		out.Rules = &setting.Rules{Linear: f.Linear, SetElements: f.Table, MapElements: f.Map, Stateful: f.Stateful, By: f.By, Optimise: f.Optimise}
	case s.Routes != nil:
		r := *s.Routes
		out.Mechanism = setting.Routes
		out.Table = &setting.Table{Count: r.Count, Mix: r.Mix, Miss: r.Miss}
	case s.Hops > 0:
		out.Mechanism, out.Name, out.Value = setting.Hops, s.Over, strconv.Itoa(s.Hops)
	case s.Forward != "":
		out.Mechanism, out.Name = setting.Forward, s.Forward
	case s.CPUs > 0:
		out.Mechanism, out.Value = setting.CPUs, strconv.Itoa(s.CPUs)
	case s.PolicyRules > 0:
		out.Mechanism, out.Value = setting.PolicyRules, strconv.Itoa(s.PolicyRules)
	case s.Route != "":
		out.Mechanism, out.Name, out.Value = setting.Route, s.Route, s.Via
	case s.Link != "":
		out.Mechanism, out.Name = setting.Link, s.Link
	case s.NAPI != "":
		out.Mechanism, out.Name = setting.NAPI, s.NAPI
	case s.TCP != nil:
		t := setting.Path(*s.TCP)
		out.Mechanism, out.Path = setting.TCP, &t
	case s.NGINX != "":
		out.Mechanism, out.Name = setting.NGINX, s.NGINX
	case s.Postfix != "":
		out.Mechanism, out.Name = setting.Postfix, s.Postfix
	case s.FileSystem != nil:
		out.Mechanism, out.Disk = setting.FileSystem, s.FileSystem.Disk()
	case len(s.Command) > 0:
		out.Mechanism, out.Argv, out.Undo = setting.Command, s.Command, s.Undo
	default:
		out, _ = s.machineSetting()
	}
	return out
}

// Apply returns the variant's settings for the testbed, in order.
func (v Variant) Apply() []setting.Setting {
	out := make([]setting.Setting, len(v.Settings))
	for i, s := range v.Settings {
		out[i] = s.Setting()
	}
	return out
}

// ApplyLocal returns the settings that do not leave the testbed, in order.
func (v Variant) ApplyLocal() []setting.Setting { return v.apply("") }

// ApplyGlobal returns those that are global to the kernel, in order.
func (v Variant) ApplyGlobal() []setting.Setting { return v.apply(ScopeHost) }

func (v Variant) apply(scope string) (out []setting.Setting) {
	for _, s := range v.Settings {
		if s.Scope == scope {
			out = append(out, s.Setting())
		}
	}
	return out
}

// HostScope returns the settings that are declared global to the kernel.
func (v Variant) HostScope() []Setting {
	var out []Setting
	for _, s := range v.Settings {
		if s.Scope == ScopeHost {
			out = append(out, s)
		}
	}
	return out
}

// Local is the study without the variants that set what is global to the kernel.
func (s Spec) Local() Spec {
	s.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v Variant) bool { return len(v.HostScope()) > 0 })
	return s
}
