package study

import (
	"strings"
	"testing"

	"linerate/internal/testbed"
)

// TestNeverOverloaded: a variant whose trials all offered too little is named,
// with what was offered; one valid trial, or another reason, says otherwise.
func TestNeverOverloaded(t *testing.T) {
	s := Spec{Parts: []Part{{Name: "at-max", Mode: testbed.Overload, Rate: MaxRate}, {Name: "at-50", Mode: testbed.Overload, Rate: "50%"}},
		Variants: []Variant{{Name: "none"}, {Name: "rules"}, {Name: "drained"}, {Name: "absent"}}}
	gate := overloadGates(s.Parts[0], Gates{Headroom: 1.2, StarvedPercent: 100}, forwarded(func(o *Observation) {}))
	if len(gate) != 1 || !strings.HasPrefix(gate[0], headroomGate) {
		t.Fatalf("the gate says %q", gate)
	}
	trial := func(part, variant string, offered float64, reasons ...string) Trial {
		return Trial{Part: part, Variant: variant, Valid: len(reasons) == 0, Reasons: reasons, Metrics: map[string]float64{OfferedRate: offered}}
	}
	r := Results{Trials: []Trial{
		trial("at-max", "none", 17000, gate[0]), trial("at-max", "none", 19000, gate[0]), trial("at-50", "none", 8000, gate[0]),
		trial("at-max", "rules", 15000, gate[0]), trial("at-max", "rules", 16000),
		trial("at-max", "drained", 15000, "drain: no end"),
	}}
	r.warnHeadroom(s)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "part at-max: the generator, which offered no more than 19.0 kpps, could not overload none:") {
		t.Errorf("%q", r.Warnings)
	}
}
