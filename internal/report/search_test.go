package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/search"
	"linerate/internal/show"
	"linerate/internal/study"
)

// curveStudy is a study of loss curves; free gives each arm's load without loss, and every load
// above it loses a tenth.
func curveStudy(t *testing.T, free map[string]float64) (study.Spec, study.Results) {
	t.Helper()
	s, err := study.Parse("curve.yaml", []byte(`name: curve
question: q
variants: [{name: none}, {name: rules, settings: [{firewall: {linear: 9}}]}]
parts: [{mode: overload, blocks: 3, search: {method: loss-curve}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var trials []study.Trial
	for _, slot := range study.Schedule(s, 1) {
		run := &study.SearchRun{Method: study.LossCurve}
		for load := 10e5; load >= free[slot.Variant]-1e5; load -= 1e5 {
			o := search.Outcome{Trial: search.Trial{Load: load, Duration: 0.3}}
			if load > free[slot.Variant] {
				o.LossRatio = 0.1
			}
			run.LossCurve, run.Points = append(run.LossCurve, o), append(run.Points, study.SearchPoint{Outcome: o})
		}
		trials = append(trials, study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: "overload",
			Valid: true, Reasons: []study.Refusal{}, Metrics: map[string]float64{study.LossFreeLoad: free[slot.Variant]}, Observed: &study.Observation{Search: run}})
	}
	return s, study.Analyse(s, 1, study.Environment{}, trials)
}

// TestLossCurvePage: a loss curve is not a search for throughput, and has a load and no bounds.
func TestLossCurvePage(t *testing.T) {
	s, r := curveStudy(t, map[string]float64{"none": 6e5, "rules": 6e5, study.AA: 6e5})
	data, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, bad := range []string{"The search for throughput", "lower and the upper bound", `y="NaN`, ">–</text>"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"Frame loss over offered load", ">600 kpps<", `class="curve c0"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if picture := string(Picture(s, r)); !strings.Contains(picture, "offered, pps") || !strings.Contains(picture, `class="curve c0"`) {
		t.Errorf("the picture is not of the loss over the load: %.300s", picture)
	}
	var b bytes.Buffer
	if err := Terminal(&b, s, r, show.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{`(?m)^ +100 % +10\.0 % +10\.0 % +10\.0 %$`, `(?m)^ +60 % +0 % +0 % +0 %$`} {
		if !regexp.MustCompile(row).MatchString(b.String()) {
			t.Errorf("the terminal has no row like %s:\n%s", row, b.String())
		}
	}
}
