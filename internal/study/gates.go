package study

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/list"
)

// Gate is one thing that a trial must pass.
type Gate struct {
	// Name begins the reason of a trial that did not: "drift".
	Name string
	// Before, where given, is the gate of another kind before which reports list it.
	Before string
	// AppliesTo reports whether it matters to a part, so that a report lists it;
	// nil: it is listed where one tripped.
	AppliesTo func(p Part) bool
	// Limit says what must be, by the study's limits, for people.
	Limit func(g Gates) string
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

// Refusal is why a trial is not valid: the gate that it did not pass, "" of what
// went wrong beside all gates, and the fault. Its text is "gate: fault".
type Refusal struct{ Gate, Text string }

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

// Reasons are those of texts, as records have them; never nil.
func Reasons(texts ...string) []Refusal {
	out := make([]Refusal, len(texts))
	for i, text := range texts {
		_ = out[i].UnmarshalText([]byte(text)) // any text is one
	}
	return out
}

// Why are a trial's reasons as records have them; nil of none.
func (t Trial) Why() []string { return list.Map(t.Reasons, Refusal.String) }

// Judge derives a trial's metrics from what was observed, and the reasons for
// which it is not valid. block are the trials of its block so far.
func Judge(p Part, g Gates, o Observation, block ...Trial) (metrics map[string]float64, reasons []Refusal) {
	k := KindOf(p)
	a := Asked{Part: p, Limits: g, Observed: o, Metrics: k.Measure(p, o, block)}
	reasons = []Refusal{} // never null in JSON
	for _, gate := range k.Gates() {
		for _, fault := range gate.Ask(a) {
			reasons = append(reasons, Refusal{gate.Name, fault})
		}
	}
	return a.Metrics, reasons
}

// AllGates are those of every kind, each once, in the order of reports.
func AllGates() (all []Gate) {
	for _, k := range kinds {
		for _, g := range k.Gates() {
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

func placeOf(gates []Gate, name string) int {
	return slices.IndexFunc(gates, func(g Gate) bool { return g.Name == name })
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

// Tripped is a gate and how many trials it refused.
type Tripped struct {
	Gate
	Trials int
}

func refused(trials []Trial, gate string) (n int) {
	for _, t := range trials {
		if slices.ContainsFunc(t.Reasons, func(r Refusal) bool { return r.Gate == gate }) {
			n++
		}
	}
	return n
}

// lasting reports whether all that a trial was refused for would be there again.
func (t Trial) lasting() bool {
	if len(t.Reasons) != 1 {
		return false
	}
	g, ok := GateNamed(t.Reasons[0].Gate)
	return ok && g.Lasting
}

// Always is of gates that every part's trials must pass.
func Always(Part) bool { return true }

// Must is a limit that no number has.
func Must(text string) func(Gates) string { return func(Gates) string { return text } }

// FaultIf is a gate's one fault, or none.
func FaultIf(is bool, fault string) []string {
	if !is {
		return nil
	}
	return []string{fault}
}

// Drift and Stolen ask whether the machine was itself.
var (
	Drift = Gate{Name: "drift", AppliesTo: Always, Ask: askDrift, Limit: func(g Gates) string {
		return fmt.Sprintf("a CPU's calibration spin may change by %g %%", g.DriftPercent)
	}}
	Stolen = Gate{Name: "stolen time", AppliesTo: Always, Ask: AskStolen, Limit: func(g Gates) string {
		return fmt.Sprintf("the hypervisor may take %g %% of a CPU", g.StealPercent)
	}}
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
