package search

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"linerate/internal/lab"
	"linerate/internal/report"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed/bedtest"
)

func kindSpec(search, metric string) string {
	s := strings.Replace(searchSpec, "search: {method: mlr, goals: [ndr, pdr], width_percent: 1, latency_at: [0.5]}", "search: "+search, 1)
	return strings.Replace(s, study.ConditionalThroughput, metric, 1)
}

// TestBackToBackFindsTheRing: a simulated router buffers 256 frames and meanwhile forwards a sixth of what
// arrives.
func TestBackToBackFindsTheRing(t *testing.T) {
	s := bedtest.Parse(t, kindSpec("{method: back-to-back, repeats: 3, step_frames: 1}", study.BackToBackFrames))
	sim := &bedtest.Simulated{Seed: 3}
	trials, _, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range trials {
		b := tr.Saw().Search.BackToBack
		if !tr.Valid || b == nil || b.Searches != 3 || b.AtLimit {
			t.Fatalf("%s: valid %v, %v, %+v", tr.Variant, tr.Valid, tr.Reasons, b)
		}
		if want := bedtest.RingFrames / (1 - 1/6.0); math.Abs(b.Mean-want) > 3 || tr.Metrics[study.BackToBackFrames] != b.Mean {
			t.Errorf("%s: bursts of %g frames, want %g", tr.Variant, b.Mean, want)
		}
		// What the ring holds at full rate.
		if held := b.CorrectedTime * tr.Saw().Search.GeneratorMax; math.Abs(held-bedtest.RingFrames) > 0.06*bedtest.RingFrames {
			t.Errorf("%s: the buffer holds %g frames, want %d", tr.Variant, held, bedtest.RingFrames)
		}
		if _, err := json.Marshal(tr); err != nil {
			t.Error(err)
		}
	}
	shown(t, s, trials, "longest burst", "corrected buffer time", "RFC 9004")
}

// TestLossCurve: what the simulated router cannot forward is lost, and the curve ends at the second load
// without loss.
func TestLossCurve(t *testing.T) {
	s := bedtest.Parse(t, kindSpec("{method: loss-curve, step_percent: 5}", study.LossFreeLoad))
	trials, _, err := simulate(t, &bedtest.Simulated{Seed: 3}, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range trials {
		curve := tr.Saw().Search.LossCurve
		if !tr.Valid || len(curve) < 3 {
			t.Fatalf("%s: valid %v, %v, %d points", tr.Variant, tr.Valid, tr.Reasons, len(curve))
		}
		capacity := curve[0].Load * (1 - curve[0].LossRatio)
		free := tr.Metrics[study.LossFreeLoad]
		if free > capacity*1.0001 || free < capacity-0.06*curve[0].Load {
			t.Errorf("%s: %g pps without loss, forwards %g", tr.Variant, free, capacity)
		}
		for _, p := range curve {
			if want := max(0, 1-capacity/p.Load); math.Abs(p.LossRatio-want) > 0.001 {
				t.Errorf("%s: lost %g at %g pps, want %g", tr.Variant, p.LossRatio, p.Load, want)
			}
		}
	}
	r := shown(t, s, trials, "share of the largest load", "two loads in a row lose nothing")
	if v := r.Verdicts[0]; v.Variant != "rules-100" || v.Metric != study.LossFreeLoad {
		t.Errorf("%+v", v)
	}
}

// shown reports the trials and checks that the page contains words.
func shown(t *testing.T, s study.Spec, trials []study.Trial, words ...string) study.Results {
	t.Helper()
	r := study.Analyse(s, 5, study.Environment{}, trials)
	page, err := report.HTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.Terminal(&text, s, r, show.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		if !strings.Contains(string(page), w) {
			t.Errorf("the page does not say %q", w)
		}
	}
	m, _ := study.MetricNamed(s.Primary().Metric)
	if !strings.Contains(text.String(), m.Label) {
		t.Errorf("the terminal does not name %q:\n%s", m.Label, text.String())
	}
	return r
}
