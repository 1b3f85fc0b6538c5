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

// lineView is a line of a file in expressions of rules.
type lineView struct {
	Name  string  `expr:"name"`
	Value string  `expr:"value"`
	Num   float64 `expr:"num"`
	// Folded is the name with the unit number replaced by N.
	Folded    string `expr:"folded"`
	File      string `expr:"file"`
	Text      string `expr:"text"`
	Mechanism string `expr:"mechanism"`
	// Note is the note of the file's reader: "driver ixgbe" for a .link file that matches it.
	Note string `expr:"note"`
}

// names are the variables and functions of rule expressions: the catalogue's and those of audits.
type names struct {
	tunable.Names
	// The subject of a rule: a line, an interface, a shaper or a counter.
	Line        *lineView     `expr:"line"`
	NIC         *factexpr.NIC `expr:"nic"`
	Shaper      *shaperView   `expr:"shaper"`
	Count       float64       `expr:"count"`
	CounterName string        `expr:"counter_name"`
	// Packets is what the counter's events are a part of, such as packets received; 0 if unknown.
	Packets float64 `expr:"packets"`

	// Old is the value of a tunable before a write, as number and as text.
	Old     float64 `expr:"old"`
	OldText string  `expr:"old_text"`

	// OfClass reports whether the interface's driver is in a class of lists.yaml; Class whether
	// that of any interface is.
	OfClass func(n *factexpr.NIC, class string) bool `expr:"of_class"`
	Class   func(class string) bool                  `expr:"class"`
	// PFLimit returns a limit of pf: from its file, from the running pf, or the default.
	PFLimit func(name string) float64 `expr:"pf_limit"`
	// HarvestOff returns the sources that a mask switches off, HarvestStray those that it names but
	// cannot control.
	HarvestOff   func(mask float64) []string `expr:"harvest_off"`
	HarvestStray func(mask float64) []string `expr:"harvest_stray"`
	// Stock reports whether a name is in a list of a stock system, kept by kind in lists.yaml:
	// "module" of its kernel, "rc" of its rc.conf.
	Stock func(kind, name string) bool `expr:"stock"`
	// Near returns names of such a list within one or two typos of a name that is not in it.
	Near func(kind, name string) []string `expr:"near"`
	// HighestCPU returns the highest CPU of a hexadecimal mask, -1 for an empty one.
	HighestCPU func(mask string) int `expr:"highest_cpu"`
	// OwnNode returns the appliance's own place that overrides its list of tunables with another
	// value than this; "" if none.
	OwnNode func(name, value string) string `expr:"own_node"`
	// Bytes formats a size.
	Bytes func(n any) string `expr:"bytes"`
	// Detail returns the first number of details(service, word), or 0.
	Detail func(service, word string) float64 `expr:"detail"`
	// Amount parses a size such as "8 GB" or "64m" with binary units; 0 if it is none.
	Amount func(text string) float64 `expr:"amount"`
}

// language is the expression language of rules.
var language = sync.OnceValue(factexpr.NewLanguage[names])

// ruleNames returns the names of rule expressions for a host.
func ruleNames(e tunable.Env, f *fact.Facts, lists *Lists) *names {
	return &names{
		Names: *e.Names,
		Line:  &lineView{}, NIC: &factexpr.NIC{}, Shaper: &shaperView{},
		OfClass: func(n *factexpr.NIC, class string) bool { return slices.Contains(lists.Classes[class], n.Driver) },
		Class: func(class string) bool {
			return slices.ContainsFunc(f.NICs, func(n fact.NIC) bool { return slices.Contains(lists.Classes[class], n.Driver) })
		},
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
		Detail:     func(service, word string) float64 { return e.NumberAt(strings.Join(e.Details(service, word), " "), 1) },
		Amount:     amount,
		Bytes:      func(n any) string { return calc.Format(factexpr.Number(n), calc.Bytes) },
	}
}

func amount(text string) float64 {
	n, _ := calc.Parse(strings.TrimRight(strings.ToUpper(strings.TrimSpace(text)), "IB"), calc.Bytes) // 0 of none
	return n
}

// highestCPU returns the highest CPU of a hexadecimal mask with commas between 32-bit words.
func highestCPU(mask string) int {
	n, ok := new(big.Int).SetString(strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(mask), "0x"), ",", ""), 16)
	if !ok {
		return -1
	}
	return n.BitLen() - 1
}

// about returns a copy of the names for one subject, with its value.
func (n *names) about(value string) *names {
	x := *n
	x.Names = *tunable.Env{Names: &n.Names}.With(value, "").Names
	return &x
}

// harvest returns what a harvest mask does on a release: the sources that it switches off and the
// default has on; or, if stray, those that it names but cannot control.
func harvest(rel release.Release, mask float64, stray bool) []string {
	found := []string{}
	if mask < 0 || mask > math.MaxUint32 {
		return found
	}
	have, err := tunable.DecodeHarvest(rel, uint32(mask))
	usual, err2 := tunable.DecodeHarvest(rel, tunable.HarvestDefault(rel))
	if err != nil || err2 != nil {
		return found
	}
	for i, s := range have {
		if stray && s.On && s.Fixed || !stray && !s.On && !s.Fixed && usual[i].On {
			found = append(found, s.Name)
		}
	}
	return found
}

// pfLimit returns a limit of pf: from its file, from the running pf, or the default.
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
