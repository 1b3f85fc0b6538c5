// Package filter has the ways of setting packet filters: by what they are to do, or by
// rules in the language of one of them.
package filter

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/setting"
	"linerate/internal/study"
)

// Limits of what is generated.
const (
	maxRules    = 100_000
	maxElements = 1 << 20
)

// Ruleset is an nftables ruleset: text in nft's language, or generated.
type Ruleset struct {
	Text        string `yaml:"text,omitempty"`
	Linear      int    `yaml:"linear,omitempty"`
	SetElements int    `yaml:"set_elements,omitempty"`
	Stateful    bool   `yaml:"stateful,omitempty"`
}

// UnmarshalYAML reads a ruleset written out as text, or the recipe of a
// generated one.
func (r *Ruleset) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&r.Text) == nil {
		return nil
	}
	type recipe Ruleset
	return unmarshal((*recipe)(r))
}

func (r *Ruleset) check(path string) *study.Problem {
	generated := r.Linear != 0 || r.SetElements != 0 || r.Stateful
	switch {
	case r.Text != "" && generated:
		return study.Wrong(path, "a ruleset is written out or generated, not both").Advise("keep text, or linear/set_elements/stateful")
	case r.Text == "" && !generated:
		return study.Wrong(path, "the ruleset is empty").Advise("give text, linear, set_elements or stateful")
	}
	return cmp.Or(study.Within(path+".linear", r.Linear, 0, maxRules), study.Within(path+".set_elements", r.SetElements, 0, maxElements))
}

func (r *Ruleset) set(to *setting.Setting, by setting.Mechanism) {
	to.Mechanism = by
	to.Rules = &setting.Rules{Text: r.Text, Linear: r.Linear, SetElements: r.SetElements, Stateful: r.Stateful}
}

// String is what the ruleset is.
func (r *Ruleset) String() string {
	var parts []string
	if r.Linear != 0 {
		parts = append(parts, fmt.Sprintf("linear %d", r.Linear))
	}
	if r.SetElements != 0 {
		parts = append(parts, fmt.Sprintf("set elements %d", r.SetElements))
	}
	if r.Stateful {
		parts = append(parts, "stateful true")
	}
	if r.Text != "" {
		parts = append(parts, fmt.Sprintf("%d bytes of rules", len(r.Text)))
	}
	return strings.Join(parts, ", ")
}

// NFT loads a ruleset of nftables.
type NFT struct {
	study.PlainWay
	NFT *Ruleset `yaml:"nft,omitempty"`
}

// Set satisfies study.Way.
func (w *NFT) Set(to *setting.Setting) { w.NFT.set(to, setting.NFT) }

// Check satisfies study.Way.
func (w *NFT) Check(_ study.Setting, path string) *study.Problem { return w.NFT.check(path + ".nft") }

// Names satisfies study.Way.
func (w *NFT) Names(study.Setting) map[string]string {
	return map[string]string{"nft": w.NFT.String()}
}

// PF loads rules of pf.
type PF struct {
	study.PlainWay
	PF *Ruleset `yaml:"pf,omitempty"`
}

// Needs satisfies study.Way.
func (*PF) Needs() study.Needs { return study.Needs{Machines: true} }

// Set satisfies study.Way.
func (w *PF) Set(to *setting.Setting) { w.PF.set(to, setting.PF) }

// Check satisfies study.Way.
func (w *PF) Check(_ study.Setting, path string) *study.Problem { return w.PF.check(path + ".pf") }

// IPFW loads rules of ipfw.
type IPFW struct {
	study.PlainWay
	IPFW *Ruleset `yaml:"ipfw,omitempty"`
}

// Needs satisfies study.Way.
func (*IPFW) Needs() study.Needs { return study.Needs{Machines: true} }

// Set satisfies study.Way.
func (w *IPFW) Set(to *setting.Setting) { w.IPFW.set(to, setting.IPFW) }

// Check satisfies study.Way.
func (w *IPFW) Check(_ study.Setting, path string) *study.Problem {
	return w.IPFW.check(path + ".ipfw")
}

// Rules is a packet filter by what it does: rules in a row that never match,
// one lookup in a table that never matches, and tracking of connections.
type Rules struct {
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

// Firewall has a packet filter do something, in the testbed's own way.
type Firewall struct {
	study.PlainWay
	// Firewall says what a packet filter is to do; each testbed has its own
	// way to do it.
	Firewall *Rules `yaml:"firewall,omitempty"`
}

// Set satisfies study.Way.
func (w *Firewall) Set(to *setting.Setting) {
	f := *w.Firewall
	to.Mechanism = setting.Firewall
	to.Rules = &setting.Rules{Linear: f.Linear, SetElements: f.Table, MapElements: f.Map, Stateful: f.Stateful, By: f.By, Optimise: f.Optimise}
}

// Check satisfies study.Way.
func (w *Firewall) Check(_ study.Setting, path string) *study.Problem {
	path += ".firewall"
	f := *w.Firewall
	switch {
	case f.Linear == 0 && f.Table == 0 && f.Map == 0 && !f.Stateful:
		return study.Wrong(path, "the firewall does nothing").Advise("give linear, table, map or stateful")
	case f.Optimise && f.Linear == 0:
		return study.Wrong(path+".optimise", "there are no linear rules to merge").Advise("add linear: N")
	}
	return cmp.Or(
		study.Within(path+".linear", f.Linear, 0, maxRules),
		study.Within(path+".table", f.Table, 0, maxElements),
		study.Within(path+".map", f.Map, 0, maxElements),
		study.OneOf(path+".by", cmp.Or(f.By, setting.ByNFT), setting.ByNFT, setting.ByIptablesLegacy, setting.ByIptablesNFT, setting.ByPF, setting.ByIPFW),
	)
}

// Names satisfies study.Way.
func (w *Firewall) Names(s study.Setting) map[string]string {
	return map[string]string{"firewall": s.Setting().Rules.String()}
}
