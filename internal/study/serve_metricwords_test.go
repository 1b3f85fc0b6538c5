package study

import (
	"strings"
	"testing"

	"linerate/internal/testbed"
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
			t.Errorf("the unit is %q, want %q", m.Unit, unit)
		}
	}
	s, err := Parse("m.yaml", []byte(mailSpec))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := MetricNamed(SettledRate)
	if got := m.In(s.workload()); !strings.Contains(got.Label, "messages delivered") {
		t.Errorf("the label for mail is %q", got.Label)
	}
}

// TestVerdictsSpeakOfTheirWorkload: a verdict on mail has the unit messages, in JSON too.
func TestVerdictsSpeakOfTheirWorkload(t *testing.T) {
	s, err := Parse("m.yaml", []byte(mailSpec))
	if err != nil {
		t.Fatal(err)
	}
	var trials []Trial
	for block := 1; block <= 3; block++ {
		for i, v := range s.Arms() {
			rate := 100 + float64(10*i+block)
			trials = append(trials, Trial{Part: s.Primary().Part, Variant: v, Block: block, Mode: testbed.Serve, Valid: true,
				Metrics: map[string]float64{SettledRate: rate, RequestRate: rate, QueuePeak: 3}})
		}
	}
	r := Analyse(s, 1, Environment{}, trials)
	for _, v := range r.Verdicts {
		if m, _ := r.Metric(v.Metric); v.Unit != m.Unit || v.Unit == "req/s" {
			t.Errorf("the verdict on %s has the unit %q, the metric %q", v.Metric, v.Unit, m.Unit)
		}
	}
	if len(r.Verdicts) == 0 {
		t.Error("no verdict")
	}
}
