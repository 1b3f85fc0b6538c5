package study_test

import (
	"testing"
	"time"

	"linerate/internal/study"
)

func interleavedSpec(t *testing.T, extra string) study.Spec {
	t.Helper()
	s, err := study.Parse("x.yaml", []byte(`{name: x, question: "?", control: none, variants: [{name: none}, {name: other}`+extra+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// interleavedTrials returns the trials of an instance in mode cost.
func interleavedTrials(s study.Spec, block, attempt int, cost map[string]float64) (all []study.Trial) {
	for i, arm := range s.Arms() {
		all = append(all, study.Trial{Part: s.Parts[0].Name, Variant: arm, Block: block, Order: i + 1, Valid: true, Start: time.Unix(0, 0),
			Metrics:  map[string]float64{study.CostNS: cost[arm], study.ForwardingRate: 1e9 / cost[arm]},
			Observed: &study.Observation{Interleaved: &study.Interleaved{How: study.BySlices, Attempt: attempt, Lanes: study.Lanes{Rounds: 1000, GoodRounds: 1000}}}})
	}
	return all
}
