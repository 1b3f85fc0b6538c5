// Package setting holds what a variant or a plan sets on a host, as pure
// data: a mechanism, a name and a value. Package knob knows how each
// mechanism is read and written; the catalogue says what a name means.
package setting

import "fmt"

// Mechanism is how a setting reaches its host.
type Mechanism string

// The mechanisms of a running host that a study's variant can use.
const (
	Sysctl  Mechanism = "sysctl"  // Name is the sysctl, Value what is written to it
	NFT     Mechanism = "nft"     // Rules says which ruleset
	Route   Mechanism = "route"   // Name is a prefix, Value its next hop
	Link    Mechanism = "link"    // Name is a property (mtu, gro, tso …) of Device
	NAPI    Mechanism = "napi"    // Name is threaded, defer-hard-irqs or gro-flush-timeout of Device
	Command Mechanism = "command" // Argv is run, never through a shell
)

// Setting is one thing to set. Only the fields of its mechanism are used.
type Setting struct {
	Mechanism Mechanism `json:"mechanism" yaml:"mechanism"`
	Name      string    `json:"name,omitempty" yaml:"name,omitempty"`
	Value     string    `json:"value,omitempty" yaml:"value,omitempty"`
	// Device is the interface that Link and NAPI set, by its role in the
	// testbed: "ingress" or "egress" of the DUT.
	Device string   `json:"device,omitempty" yaml:"device,omitempty"`
	Argv   []string `json:"argv,omitempty" yaml:"argv,omitempty"`
	Rules  *Rules   `json:"rules,omitempty" yaml:"rules,omitempty"`
}

// Rules is an nftables ruleset: written out, or generated. Generated rules
// match source addresses of the reserved space 240.0.0.0/4 (and 2001:db8::/32)
// that no workload uses, so that every packet walks the whole ruleset.
type Rules struct {
	// Text is a ruleset in nft's own language.
	Text string `json:"text,omitempty" yaml:"text,omitempty"`
	// Linear is how many rules that never match a packet walks before the
	// chain's policy accepts it.
	Linear int `json:"linear,omitempty" yaml:"linear,omitempty"`
	// SetElements is the size of one set that never matches.
	SetElements int `json:"set_elements,omitempty" yaml:"set_elements,omitempty"`
	// Stateful adds connection tracking: established accepted, new accepted.
	Stateful bool `json:"stateful,omitempty" yaml:"stateful,omitempty"`
}

// String is the setting on one line, for people.
func (s Setting) String() string {
	switch s.Mechanism {
	case NFT:
		return s.Rules.String()
	case Command:
		return fmt.Sprintf("run %q", s.Argv)
	case Link, NAPI:
		return fmt.Sprintf("%s %s %s=%s", s.Mechanism, s.Device, s.Name, s.Value)
	default:
		return fmt.Sprintf("%s %s=%s", s.Mechanism, s.Name, s.Value)
	}
}

// String is the ruleset on one line, for people.
func (r *Rules) String() string {
	switch {
	case r == nil:
		return "nft (empty)"
	case r.Text != "":
		return fmt.Sprintf("nft ruleset of %d bytes", len(r.Text))
	case r.SetElements > 0:
		return fmt.Sprintf("nft set of %d elements", r.SetElements)
	case r.Stateful:
		return fmt.Sprintf("nft stateful tracking, %d rules", r.Linear)
	default:
		return fmt.Sprintf("nft %d linear rules", r.Linear)
	}
}
