// Package setting describes what a variant or a plan sets on a host, as pure
// data: a mechanism, a name and a value. Package knob reads and writes each
// mechanism; the catalogue says what a name means.
//
// Terms: a fact.Tunable is a name on one host, a tunable.Record is what is known
// of it in general, a Setting is what a study's variant sets, a plan.Step is what
// a plan changes, with its reason.
package setting

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// NAPINames lists the NAPI settings of each device on Linux.
var NAPINames = []string{"threaded", "defer-hard-irqs", "gro-flush-timeout", "rps"}

// Setting is one thing to set. Only the fields of its mechanism are used.
type Setting struct {
	Mechanism Mechanism `json:"mechanism" yaml:"mechanism"`
	Name      string    `json:"name,omitempty" yaml:"name,omitempty"`
	Value     string    `json:"value,omitempty" yaml:"value,omitempty"`
	// Device is the interface for Link and NAPI, by its role in the testbed: "ingress" or "egress"
	// of the DUT.
	Device string   `json:"device,omitempty" yaml:"device,omitempty"`
	Argv   []string `json:"argv,omitempty" yaml:"argv,omitempty"`
	Rules  *Rules   `json:"rules,omitempty" yaml:"rules,omitempty"`
	Table  *Table   `json:"table,omitempty" yaml:"table,omitempty"`
	// Undo reverts a Command, if the testbed outlives it.
	Undo []string `json:"undo,omitempty" yaml:"undo,omitempty"`
	Path *Path    `json:"path,omitempty" yaml:"path,omitempty"`
	// Disk is a file system for a study.
	Disk *Disk `json:"disk,omitempty" yaml:"disk,omitempty"`
}

// Path holds TCP attributes of a path, which Linux stores with a route (ip-route(8)); zero fields
// mean the kernel's defaults.
type Path struct {
	InitCwnd   int    `json:"initcwnd,omitempty" yaml:"initcwnd,omitempty"` // segments
	InitRwnd   int    `json:"initrwnd,omitempty" yaml:"initrwnd,omitempty"` // segments
	Congestion string `json:"congestion,omitempty" yaml:"congestion,omitempty"`
	ULP        string `json:"ulp,omitempty" yaml:"ulp,omitempty"` // an upper-layer protocol that the kernel must have: "tls"
}

// String formats the path on one line.
func (p *Path) String() string {
	var out []string
	if p.Congestion != "" {
		out = append(out, p.Congestion)
	}
	if p.InitCwnd > 0 {
		out = append(out, fmt.Sprintf("initial window %d", p.InitCwnd))
	}
	if p.InitRwnd > 0 {
		out = append(out, fmt.Sprintf("initial receive window %d", p.InitRwnd))
	}
	if p.ULP != "" {
		out = append(out, p.ULP+" in the kernel")
	}
	return "tcp " + strings.Join(out, ", ")
}

// Rules is a packet filter: a text, or a description by its work, consecutive rules that never match,
// lookups that never match, and connection tracking. What never matches are source addresses of the
// reserved space 240.0.0.0/4 (and 2001:db8::/32), which no workload uses, so that every packet
// traverses the whole ruleset.
type Rules struct {
	// Text is a ruleset in the language of the mechanism.
	Text string `json:"text,omitempty" yaml:"-"`
	// Linear is the number of non-matching rules that a packet traverses before the chain's policy
	// accepts it.
	Linear      int  `json:"linear,omitempty" yaml:"linear,omitempty"`
	SetElements int  `json:"set_elements,omitempty" yaml:"table,omitempty"` // addresses in one set
	MapElements int  `json:"map_elements,omitempty" yaml:"map,omitempty"`   // addresses in one map to verdicts
	Stateful    bool `json:"stateful,omitempty" yaml:"stateful,omitempty"`  // accept established connections, and new ones
	// By is the program, if the testbed has several: "nft", "iptables-legacy", "iptables-nft"; on
	// FreeBSD "pf", "ipfw". "" is the testbed's default.
	By string `json:"by,omitempty" yaml:"by,omitempty"`
	// Optimise lets the program merge rules where it can (nft -o).
	Optimise bool `json:"optimise,omitempty" yaml:"optimise,omitempty"`
}

// The programs that can load a firewall.
const (
	ByNFT            = "nft"
	ByIptablesLegacy = "iptables-legacy"
	ByIptablesNFT    = "iptables-nft"
	ByPF             = "pf"   // FreeBSD
	ByIPFW           = "ipfw" // FreeBSD
)

// The mixes of a routing table.
const (
	MixHosts = "hosts"
	MixFull  = "full"
)

// What forwards instead of the kernel's routing.
const (
	ForwardXDP    = "xdp"
	ForwardBridge = "bridge"
)

// Table is a routing table of a given size. Unless Miss is set, as many of its routes as possible
// cover destinations of the workload, behind the egress; the others are for unused addresses.
type Table struct {
	Count int `json:"count" yaml:"count"`
	// Mix is "hosts" (consecutive host routes) or "full" (the prefix lengths of a full BGP table).
	Mix string `json:"mix,omitempty" yaml:"mix,omitempty"`
	// Miss leaves the workload's destinations without specific routes.
	Miss bool `json:"miss,omitempty" yaml:"miss,omitempty"`
}

// String formats the table on one line.
func (t *Table) String() string {
	mix, miss := "host routes", ""
	if t.Mix == MixFull {
		mix = "routes of a full table's prefix lengths"
	}
	if t.Miss {
		miss = ", none of them matched"
	}
	return fmt.Sprintf("%d %s%s", t.Count, mix, miss)
}

// String formats the setting on one line.
func (s Setting) String() string {
	switch s.Mechanism {
	case Files:
		return "files " + s.Name
	case PF, IPFW:
		return string(s.Mechanism) + " " + s.Rules.String()
	case NFT:
		return "nft " + s.Rules.String()
	case Firewall:
		return "firewall of " + s.Rules.String()
	case Routes:
		return s.Table.String()
	case Hops:
		if s.Value == "1" {
			return "one more router over " + overWhat(s.Name)
		}
		return fmt.Sprintf("%s more routers over %s", s.Value, overWhat(s.Name))
	case Forward:
		return "forwarding by " + s.Name
	case CPUs:
		return "ingress on " + s.Value + " CPUs"
	case PolicyRules:
		return s.Value + " rules of policy routing"
	case TCP:
		return s.Path.String()
	case FileSystem:
		return s.Disk.String()
	case Command:
		return fmt.Sprintf("run %q", s.Argv)
	case Link, NAPI:
		return fmt.Sprintf("%s %s %s=%s", s.Mechanism, s.Device, s.Name, s.Value)
	default:
		return fmt.Sprintf("%s %s=%s", s.Mechanism, s.Name, s.Value)
	}
}

func overWhat(kind string) string {
	if kind == "" {
		return "veth"
	}
	return kind
}

// String describes the ruleset on one line.
func (r *Rules) String() string {
	if r == nil {
		return "nothing"
	}
	if r.Text != "" {
		return fmt.Sprintf("ruleset of %d bytes", len(r.Text))
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{r.Linear, "%d linear rules"}, {r.SetElements, "set of %d elements"}, {r.MapElements, "map of %d elements"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.what, p.n))
		}
	}
	if r.Stateful {
		parts = append(parts, "stateful tracking")
	}
	if r.Optimise {
		parts = append(parts, "merged")
	}
	if r.By != "" {
		parts = append(parts, "by "+r.By)
	}
	return strings.Join(parts, ", ")
}

// Digest identifies the settings of a DUT: the hexadecimal SHA-256 of their JSON.
func Digest(settings []Setting) string {
	data, err := json.Marshal(settings)
	if err != nil { // a Setting can always be marshalled
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// RCEffect returns the sysctl, and its value, that a variable of FreeBSD's rc.conf sets on the
// running host; ok is false if the variable takes effect only when its service starts, or the value
// is neither yes nor no. Source: libexec/rc/rc.d/routing.
func RCEffect(variable, value string) (sysctl, to string, ok bool) {
	switch variable {
	case "gateway_enable":
		sysctl = "net.inet.ip.forwarding"
	case "ipv6_gateway_enable":
		sysctl = "net.inet6.ip6.forwarding"
	default:
		return "", "", false
	}
	switch strings.ToLower(value) { // as in checkyesno of rc.subr(8)
	case "yes", "true", "on", "1":
		return sysctl, "1", true
	case "no", "false", "off", "0":
		return sysctl, "0", true
	}
	return "", "", false
}
