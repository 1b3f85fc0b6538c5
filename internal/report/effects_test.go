package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/document"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// TestEffectsShareAChartUpToABound: effects of one metric and margin stand in one
// chart with their parts, as far as mostRows allows, and none is left out; those of
// another margin have a chart of their own.
func TestEffectsShareAChartUpToABound(t *testing.T) {
	const variants = 15
	s := study.Spec{Metrics: []study.Goal{{Metric: study.ForwardingRate, Part: "first", Primary: true}}}
	r := study.Results{Control: "control"}
	for part, margin := range map[string]float64{"a": 5, "b": 5, "c": 5, "d": 5, "other": 9} {
		for v := range variants {
			r.Verdicts = append(r.Verdicts, study.Verdict{Metric: study.CostNS, Part: part, Control: "control", Variant: fmt.Sprint("v", v),
				Result: stats.Result{Effect: stats.Effect{EffectPercent: stats.Num(float64(v))}, Verdict: stats.Inconclusive}, MarginPercent: margin})
		}
	}
	for _, part := range []string{"a", "b", "c", "d"} {
		s.Metrics = append(s.Metrics, study.Goal{Metric: study.CostNS, Part: part, MarginPercent: 5})
	}
	s.Metrics = append(s.Metrics, study.Goal{Metric: study.CostNS, Part: "other", MarginPercent: 9})
	more := otherEffects(s, r)[1:] // below its heading
	if len(more) != 3 {
		t.Fatalf("%d charts, want 2 of two parts and 1 of another margin", len(more))
	}
	rows := func(i int, named string) int {
		return len(regexp.MustCompile(`class="name"[^>]*>`+named).FindAllString(string(more[i].(document.Figure).Wide), -1))
	}
	for i, want := range []map[string]int{{"a": variants, "b": variants}, {"c": variants, "d": variants}} {
		for _, part := range []string{"a", "b", "c", "d"} {
			if got := rows(i, part+" · v"); got != want[part] {
				t.Errorf("chart %d has %d rows of part %s, want %d", i+1, got, part, want[part])
			}
		}
	}
	if title := more[2].(document.Figure).Title; !strings.HasSuffix(title, "part other") || rows(2, "v") != variants {
		t.Errorf("%q: the part alone, and its rows without its name", title)
	}
}
