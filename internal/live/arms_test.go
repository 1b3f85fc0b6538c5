package live

import (
	"testing"

	"linerate/internal/study"
)

// The guardrails know which treatment a look is under: silence in the windows of one goes on
// in its next, whatever came in another's between.
func TestGuardrailsKnowTheTreatment(t *testing.T) {
	came := 1.0
	g := guarding{rails: []*guard{{Watch: study.Watch{Guardrail: study.NoRequests("a log")}, value: func(glimpse) float64 { return one(came == 0) }}}}
	before, now := Sample{Boot: "a"}, Sample{Boot: "a"}
	looks := func(arm string, n int, requests float64) *study.Trip {
		came = requests
		g.window(arm)
		for range n {
			if trip := g.check((study.WindowSlot{Arm: arm}).Treated(), now, before, nil); trip != nil {
				return trip
			}
		}
		return nil
	}
	for range 3 {
		if trip := looks(study.Control, 40, 1); trip != nil {
			t.Fatalf("%+v", trip)
		}
		looks("other", 3, 1)
		if trip := looks("it", 3, 0); trip != nil {
			return
		}
	}
	t.Error("nine looks without a request, and no guardrail trips")
}
