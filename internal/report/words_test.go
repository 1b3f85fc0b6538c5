package report

import (
	"strings"
	"testing"

	"linerate/internal/study"
)

// TestEveryUnitIsTold: a value is printed in its metric's unit; without a unit it is a ratio.
func TestEveryUnitIsTold(t *testing.T) {
	for _, m := range study.Metrics() {
		if text := m.Text(35); m.Unit != "" && strings.Contains(text, "%") {
			t.Errorf("35 of %s are %s", m.Name, text)
		}
	}
}

func TestMailIsCountedInMessages(t *testing.T) {
	r := study.Results{
		AA:     study.AAResult{Metric: study.SettledRate},
		Trials: []study.Trial{{Part: "a", Metrics: map[string]float64{study.SettledRate: 336, study.QueuePeak: 3}}},
	}
	for name, verdicts := range map[string][]study.Verdict{
		"no verdict": nil, "a verdict": {{Primary: true, Metric: study.SettledRate, Part: "a"}},
	} {
		r.Verdicts = verdicts
		m, _ := primary(r)
		if got := m.Text(336); got != "336 messages/s" {
			t.Errorf("%s: %s", name, got)
		}
	}
	r.Trials[0].Metrics = map[string]float64{study.SettledRate: 336}
	if m, _ := primary(r); m.Text(336) != "336 transactions/s" {
		t.Errorf("files are counted in %q", m.Unit)
	}
}
