package study

import (
	"linerate/internal/list"
	"slices"
	"strings"
)

// UnmarshalText reads a record's reason.
func (r *Refusal) UnmarshalText(text []byte) error {
	*r = Refusal{Text: string(text)}
	if gate, fault, ok := strings.Cut(r.Text, ": "); ok {
		if _, known := GateNamed(gate); known {
			*r = Refusal{gate, fault}
		}
	}
	return nil
}

// Judge derives a trial's metrics from what was observed, and the reasons for
// which it is not valid. block are the trials of its block so far.
func Judge(p Part, g Gates, o Observation, block ...Trial) (metrics map[string]float64, reasons []Refusal) {
	a := Asked{Part: p, Limits: g, Observed: o, Metrics: measure(p, o, block)}
	reasons = []Refusal{} // never null in JSON
	for _, gate := range KindOf(p).gates() {
		for _, fault := range gate.Ask(a) {
			reasons = append(reasons, Refusal{gate.Name, fault})
		}
	}
	return a.Metrics, reasons
}

// AllGates are those of some kinds, each once.
func AllGates(of ...Kind) (all []Gate) {
	for _, k := range of {
		for _, g := range k.gates() {
			if !slices.ContainsFunc(all, func(o Gate) bool { return o.Name == g.Name }) {
				all = append(all, g)
			}
		}
	}
	return all
}

// GateNamed finds a gate.
func GateNamed(name string) (Gate, bool) {
	return list.Find(AllGates(kinds...), func(g Gate) bool { return g.Name == name })
}

// GatesOf are the names of the gates that trials of a study's parts must pass.
func GatesOf(s Spec) []string {
	return list.Map(AllGates(list.Map(s.Parts, KindOf)...), func(g Gate) string { return g.Name })
}

// lasting reports whether all that a trial was refused for would be there again.
func (t Trial) lasting() bool {
	if len(t.Reasons) != 1 {
		return false
	}
	g, ok := GateNamed(t.Reasons[0].Gate)
	return ok && g.Lasting
}
