package study

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/yamlfile"
)

// Gate is one thing that a trial must pass.
type Gate struct {
	// Name begins the reason of a trial that did not: "drift".
	Name string
	// Ask says how a trial fails it: a text for each fault, none where it passes.
	Ask func(a Asked) []string
	// Cut: what fails it is no disturbance; the arm's settings cut the path.
	Cut bool
	// Lasting: on machines that boot, what failed it once fails it again.
	Lasting bool
}

// Asked is a trial before its gates.
type Asked struct {
	Part     Part
	Limits   Gates
	Observed Observation
	Metrics  map[string]float64
}

// Failed is the refusal of a trial that an error ended.
func Failed(err error) Refusal { return Refusal{Text: err.Error()} }

// String is the refusal as records have it.
func (r Refusal) String() string {
	if r.Gate == "" {
		return r.Text
	}
	return r.Gate + ": " + r.Text
}

// MarshalText satisfies encoding.TextMarshaler.
func (r Refusal) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Why are a trial's reasons as records have them; nil of none.
func (t Trial) Why() []string { return list.Map(t.Reasons, Refusal.String) }

// FaultIf is a gate's one fault, or none.
func FaultIf(is bool, fault string) []string {
	if !is {
		return nil
	}
	return []string{fault}
}

// Drift and Stolen ask whether the machine was itself.
var (
	Drift  = Gate{Name: "drift", Ask: askDrift}
	Stolen = Gate{Name: "stolen time", Ask: AskStolen}
)

func askDrift(a Asked) (bad []string) {
	for _, c := range a.Observed.CPUs {
		// Arms that take turns are on the same machine, however it drifts.
		if d := c.Drift() * 100; d > a.Limits.DriftPercent && a.Observed.Interleaved.attempt() == 0 {
			bad = append(bad, fmt.Sprintf("CPU %d changed speed by %.1f %% during the trial (limit %g %%)", c.CPU, d, a.Limits.DriftPercent))
		}
	}
	return bad
}

// AskStolen is a gate's question: whether the hypervisor took more CPU time than allowed.
func AskStolen(a Asked) (bad []string) {
	for _, c := range a.Observed.CPUs {
		if s := c.Steal * 100; s > a.Limits.StealPercent {
			bad = append(bad, fmt.Sprintf("the hypervisor took %.1f %% of CPU %d (limit %g %%)", s, c.CPU, a.Limits.StealPercent))
		}
	}
	return bad
}

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

// DefaultGates are the limits of a study that states none.
func DefaultGates() Gates {
	return Gates{DriftPercent: 15, StealPercent: 2,
		ContentionPercent: 35, StarvedPercent: 20, UnsentPercent: 0.5, PacingPercent: 2, Headroom: 1.2, CostLossPercent: 1, GoodRoundsPercent: 10,
		FailedPercent: 0.5}
}

// check refuses what is no percentage, and a headroom below 1.
func (g *Gates) check() *yamlfile.Problem {
	v := reflect.ValueOf(*g)
	for i := range v.NumField() {
		key, least := yamlKey(v.Type().Field(i)), 0.0
		if key == "headroom" {
			least = 1
		}
		if p := yamlfile.Within("gates."+key, v.Field(i).Float(), least, 100); p != nil {
			return p
		}
	}
	return nil
}
