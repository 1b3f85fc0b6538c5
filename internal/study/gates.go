package study

import (
	"fmt"
	"slices"

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

func placeOf(gates []Gate, name string) int {
	return slices.IndexFunc(gates, func(g Gate) bool { return g.Name == name })
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
