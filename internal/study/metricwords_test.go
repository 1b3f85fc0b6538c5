package study

import (
	"strings"
	"testing"
)

func TestMetricsSpeakOfTheirWorkload(t *testing.T) {
	trial := func(names ...string) Results {
		tr := Trial{Metrics: map[string]float64{RequestRate: 1}}
		for _, n := range names {
			tr.Metrics[n] = 1
		}
		return Results{Trials: []Trial{{}, tr}}
	}
	for unit, r := range map[string]Results{"req/s": trial(), "transactions/s": trial(SettledRate), "messages/s": trial(SettledRate, QueuePeak)} {
		if m, ok := r.Metric(RequestRate); !ok || m.Unit != unit {
			t.Errorf("%q where %q is meant", m.Unit, unit)
		}
	}
	s, err := Parse("m.yaml", []byte(mailSpec))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := MetricNamed(SettledRate)
	if got := m.In(s.kind()); !strings.Contains(got.Label, "messages delivered") {
		t.Errorf("mail is called %q", got.Label)
	}
}
