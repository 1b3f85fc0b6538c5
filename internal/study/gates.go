package study

import (
	"fmt"

	"linerate/internal/list"
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
