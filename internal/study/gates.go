package study

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/yamlfile"
)

// Gate is a condition that a trial must pass to be valid.
type Gate struct {
	// Name prefixes the reasons of trials that fail it, such as "drift".
	Name string
	// Ask returns a text for each fault of a trial, none if it passes.
	Ask func(a Asked) []string
	// Cut is set if a failure is not a disturbance: the arm's settings cut the path.
	Cut bool
	// Lasting is set if a failure is permanent on machines that boot.
	Lasting bool
}

// Asked is a trial as its gates see it.
type Asked struct {
	Part     Part
	Limits   Gates
	Observed Observation
	Metrics  map[string]float64
}

// Failed returns the refusal of a trial that ended in an error.
func Failed(err error) Refusal { return Refusal{Text: err.Error()} }

// String formats the refusal as in records.
func (r Refusal) String() string {
	if r.Gate == "" {
		return r.Text
	}
	return r.Gate + ": " + r.Text
}

// MarshalText implements encoding.TextMarshaler.
func (r Refusal) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Why returns a trial's reasons as in records; nil if there are none.
func (t Trial) Why() []string { return list.Map(t.Reasons, Refusal.String) }

// FaultIf returns the fault if is holds, else none.
func FaultIf(is bool, fault string) []string {
	if !is {
		return nil
	}
	return []string{fault}
}

// Drift and Stolen check that the machine was undisturbed.
var (
	Drift  = Gate{Name: "drift", Ask: askDrift}
	Stolen = Gate{Name: "stolen time", Ask: AskStolen}
)

func askDrift(a Asked) (bad []string) {
	for _, c := range a.Observed.CPUs {
		// Arms that take turns share the same machine, so its drift affects all alike.
		if d := c.Drift() * 100; d > a.Limits.DriftPercent && a.Observed.Interleaved.attempt() == 0 {
			bad = append(bad, fmt.Sprintf("CPU %d changed speed by %.1f %% during the trial (limit %g %%)", c.CPU, d, a.Limits.DriftPercent))
		}
	}
	return bad
}

// AskStolen returns a fault for each CPU from which the hypervisor stole more time than allowed.
func AskStolen(a Asked) (bad []string) {
	for _, c := range a.Observed.CPUs {
		if s := c.Steal * 100; s > a.Limits.StealPercent {
			bad = append(bad, fmt.Sprintf("the hypervisor took %.1f %% of CPU %d (limit %g %%)", s, c.CPU, a.Limits.StealPercent))
		}
	}
	return bad
}

// UnmarshalText parses a reason from a record.
func (r *Refusal) UnmarshalText(text []byte) error {
	*r = Refusal{Text: string(text)}
	if gate, fault, ok := strings.Cut(r.Text, ": "); ok {
		if _, known := GateNamed(gate); known {
			*r = Refusal{gate, fault}
		}
	}
	return nil
}

// Judge derives a trial's metrics from the observations, and the reasons why
// it is invalid. block holds the trials of its block so far.
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

// AllGates returns the gates of the given kinds, each once.
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

// GateNamed finds a gate by name.
func GateNamed(name string) (Gate, bool) {
	return list.Find(AllGates(kinds...), func(g Gate) bool { return g.Name == name })
}

// GatesOf returns the names of the gates for trials of a study's parts.
func GatesOf(s Spec) []string {
	return list.Map(AllGates(list.Map(s.Parts, KindOf)...), func(g Gate) string { return g.Name })
}

// lasting reports whether the only reason for a trial's refusal is permanent.
func (t Trial) lasting() bool {
	if len(t.Reasons) != 1 {
		return false
	}
	g, ok := GateNamed(t.Reasons[0].Gate)
	return ok && g.Lasting
}

// DefaultGates returns the limits of a study that states none.
func DefaultGates() Gates {
	return Gates{DriftPercent: 15, StealPercent: 2,
		ContentionPercent: 35, StarvedPercent: 20, UnsentPercent: 0.5, PacingPercent: 2, Headroom: 1.2, CostLossPercent: 1, GoodRoundsPercent: 10,
		FailedPercent: 0.5}
}

// check refuses values that are not percentages, and a headroom below 1.
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

var connectionGates = gatesOfWindows(GateRefused, GateLost, GateNothing, GateGuard)

// allWindows reports whether every window of a study by connection is on record.
func allWindows(s Spec, trials []Trial) bool {
	last := list.Filter(trials, func(t Trial) bool { return t.Block == s.Parts[0].Blocks })
	return len(last) > 0
}
