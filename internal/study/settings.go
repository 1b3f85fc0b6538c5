package study

import (
	"slices"

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
	Device string   `yaml:"device,omitempty"`    // "ingress" or "egress"; of a live host an interface
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
