package live

import (
	"testing"

	"linerate/internal/study"
)

// TestGuardrailsKnowTheTreatment: guardrails are kept per treatment: silence in one treatment's windows
// continues in its next window, whatever happened in another's between.
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

// TestLateHarmTrips: harm that shows only in the window after the treatment's stops the study, in a window
// of the control, and names the treatment.
func TestLateHarmTrips(t *testing.T) {
	for _, late := range []float64{1, 5} {
		o := Options{HarmPercent: 20, metrics: []Metric{{Watched: study.Watched{Source: "p95", Metric: study.WatchedLower}}}}
		g := guarding{rails: o.guardrails()}
		var tripped *study.Trip
		level := 1.0
		for _, arm := range []string{study.Control, study.Control, "it", study.Control, study.Control, "it", study.Control, "it", study.Control} {
			g.window(arm)
			now := level
			if level = 1; arm == "it" {
				level = late
			}
			for i := range 10 {
				value := 100 * now * (1 + 0.01*float64(i%3))
				if trip := g.check(arm == "it", Sample{Available: 1}, Sample{Available: 1}, map[string]float64{study.WatchedLower: value}); trip != nil && tripped == nil {
					tripped = trip
				}
			}
		}
		if (tripped != nil) != (late > 1) || tripped != nil && (tripped.After != "it" || tripped.Guardrail != "p95") {
			t.Errorf("late %g: %+v", late, tripped)
		}
	}
}
