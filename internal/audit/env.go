package audit

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"linerate/internal/calc"
	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/fact/release"
	"linerate/internal/tunable"
)

// lineView is a line of a file as rules see it.
type lineView struct {
	Name  string  `expr:"name"`
	Value string  `expr:"value"`
	Num   float64 `expr:"num"`
	// Folded is the name with its unit replaced by N.
	Folded    string `expr:"folded"`
	File      string `expr:"file"`
	Text      string `expr:"text"`
	Mechanism string `expr:"mechanism"`
	// Note is what the reader of the file noted: "driver ixgbe" of a .link file for it.
	Note string `expr:"note"`
}

// names are what rules see: the catalogue's names and what audits add.
type names struct {
	tunable.Names
	// What a rule is asked about: a line, an interface, a shaper or a counter.
	Line        *lineView     `expr:"line"`
	NIC         *factexpr.NIC `expr:"nic"`
	Shaper      *shaperView   `expr:"shaper"`
	Count       float64       `expr:"count"`
	CounterName string        `expr:"counter_name"`
	// Packets is the traffic to relate an interface's counter to: packets received, or
	// packets sent for counters of sent packets; 0 where it is not known.
	Packets float64 `expr:"packets"`

	// Old is what a tunable held before a write, as number and as text.
	Old     float64 `expr:"old"`
	OldText string  `expr:"old_text"`

	// OfClass: the interface's driver is in a class of lists.yaml; Class:
	// some interface's is.
	OfClass func(n *factexpr.NIC, class string) bool `expr:"of_class"`
	Class   func(class string) bool                  `expr:"class"`
	// PFLimit is a limit of pf: its file's, the running one, or the default.
	PFLimit func(name string) float64 `expr:"pf_limit"`
	// HarvestOff are sources that a mask switches off, HarvestStray those it
	// names without power over them.
	HarvestOff   func(mask float64) []string `expr:"harvest_off"`
	HarvestStray func(mask float64) []string `expr:"harvest_stray"`
	// Stock reports a name of a stock system's lists, which lists.yaml keeps by
	// kind: "module" of its kernel, "rc" of its rc.conf.
	Stock func(kind, name string) bool `expr:"stock"`
	// Near are the names of such a list that are a slip or two away from one that is none of them.
	Near func(kind, name string) []string `expr:"near"`
	// HighestCPU is the last CPU of a mask in hexadecimal, -1 of none.
	HighestCPU func(mask string) int `expr:"highest_cpu"`
	// OwnNode is the place of an appliance's own from which it writes another value than
	// this over its list of tunables; "" where it does not.
	OwnNode func(name, value string) string `expr:"own_node"`
	// Bytes is a size for people.
	Bytes func(n any) string `expr:"bytes"`
}

// language is that of the rules.
var language = sync.OnceValue(factexpr.NewLanguage[names])

// ruleNames are the names of rules for a host.
func ruleNames(e tunable.Env, f *fact.Facts, lists *Lists) *names {
	return &names{
		Names: *e.Names,
		Line:  &lineView{}, NIC: &factexpr.NIC{}, Shaper: &shaperView{},
		OfClass:      func(n *factexpr.NIC, class string) bool { return slices.Contains(lists.Classes[class], n.Driver) },
		Class:        func(class string) bool { return hasDriver(f, lists.Classes[class]) },
		PFLimit:      func(name string) float64 { return pfLimit(e, f.Firewall.PF, name) },
		HarvestOff:   func(mask float64) []string { return harvest(f.Release, mask, false) },
		HarvestStray: func(mask float64) []string { return harvest(f.Release, mask, true) },
		Stock:        lists.stock,
		Near: func(kind, name string) []string {
			if known := lists.known(kind); !known.has(name) {
				return near(name, known)
			}
			return []string{}
		},
		HighestCPU: highestCPU,
		OwnNode:    func(name, value string) string { return ownNode(f, name, value) },
		Bytes:      func(n any) string { return calc.Format(factexpr.Number(n), calc.Bytes) },
	}
}

// highestCPU is the last CPU of a mask in hexadecimal, words of 32 bits between commas.
func highestCPU(mask string) int {
	n, ok := new(big.Int).SetString(strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(mask), "0x"), ",", ""), 16)
	if !ok {
		return -1
	}
	return n.BitLen() - 1
}

// about is a copy of the names for one subject, with its value.
func (n *names) about(value string) *names {
	x := *n
	x.Names = *tunable.Env{Names: &n.Names}.With(value, "").Names
	return &x
}

// harvest lists what a harvest mask does on a release: sources that it
// switches off and the release's default has on; or, stray, those it names
// though it has no power over them.
func harvest(rel release.Release, mask float64, stray bool) []string {
	found := []string{}
	if mask < 0 || mask > math.MaxUint32 {
		return found
	}
	have, err := tunable.DecodeHarvest(rel, uint32(mask))
	if err != nil {
		return found
	}
	usual, err := tunable.DecodeHarvest(rel, tunable.HarvestDefault(rel))
	if err != nil {
		return found
	}
	for i, s := range have {
		if stray && s.On && s.Fixed || !stray && !s.On && !s.Fixed && usual[i].On {
			found = append(found, s.Name)
		}
	}
	return found
}

func hasDriver(f *fact.Facts, drivers []string) bool {
	return slices.ContainsFunc(f.NICs, func(n fact.NIC) bool { return slices.Contains(drivers, n.Driver) })
}

// pfLimit is a limit of pf's file, of the running pf, or its default.
func pfLimit(e tunable.Env, pf *fact.PF, name string) float64 {
	if pf == nil {
		pf = &fact.PF{}
	}
	for _, list := range [][]fact.Limit{pf.FileLimits, pf.Limits} {
		if i := slices.IndexFunc(list, func(l fact.Limit) bool { return l.Name == name }); i >= 0 {
			return float64(list[i].Value)
		}
	}
	return e.Value("pf.conf:limit." + name)
}
