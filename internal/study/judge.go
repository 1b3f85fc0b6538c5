package study

import (
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

// AllGates are those of every kind, each once, in the order of reports.
func AllGates() (all []Gate) {
	for _, k := range kinds {
		for _, g := range k.gates() {
			if placeOf(all, g.Name) < 0 {
				at := placeOf(all, g.Before)
				if at < 0 {
					at = len(all)
				}
				all = slices.Insert(all, at, g)
			}
		}
	}
	return all
}

// GateNamed finds a gate.
func GateNamed(name string) (Gate, bool) {
	all := AllGates()
	if i := placeOf(all, name); i >= 0 {
		return all[i], true
	}
	return Gate{}, false
}

// GatesOf are the gates that matter to a study's parts, and those that refused
// one of its trials, each with how many.
func GatesOf(s Spec, trials []Trial) (all []Tripped) {
	for _, g := range AllGates() {
		applies := g.AppliesTo != nil && slices.ContainsFunc(s.Parts, g.AppliesTo)
		if n := refused(trials, g.Name); applies || n > 0 {
			all = append(all, Tripped{g, n})
		}
	}
	return all
}

// lasting reports whether all that a trial was refused for would be there again.
func (t Trial) lasting() bool {
	if len(t.Reasons) != 1 {
		return false
	}
	g, ok := GateNamed(t.Reasons[0].Gate)
	return ok && g.Lasting
}
