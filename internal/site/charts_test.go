package site

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/stats"
	"linerate/internal/tunable/explain"
)

// TestChartsOfEvidence: the intervals of what was changed alone are drawn by study, told
// apart by machine and day, and over time where a change was measured more than once.
func TestChartsOfEvidence(t *testing.T) {
	day := func(n int) *time.Time {
		d := time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC)
		return &d
	}
	of := func(machine string, started *time.Time, effect float64) explain.Evidence {
		return explain.Evidence{After: "0", Alone: true, Primary: true, Machine: machine, Study: "early", Started: started, MetricLabel: "forwarding rate",
			Result: stats.Result{N: 5, Effect: stats.EffectOf(stats.Interval{Estimate: effect, Low: effect - 1, High: effect + 1}), Verdict: stats.Better}}
	}
	all := []explain.Evidence{of("Atom, 8 cores", day(1), 3), of("Atom, 8 cores", day(9), 4), of("Xeon, 8 cores", day(5), 5), of("Xeon, 8 cores", day(6), 90), of("Xeon, 8 cores", day(7), 91)}
	all[3].Alone, all[4].Excluded = false, "a cable"
	studies := byStudy(all)
	if len(studies) != 1 || studies[0].Title != "Effects on the forwarding rate" {
		t.Fatalf("%d figures", len(studies))
	}
	wide := string(studies[0].Wide)
	for _, want := range []string{"default → 0, Atom, early 2026-03-01", "default → 0, Atom, early 2026-03-09", "default → 0, Xeon, early<", "+4.0 %  better"} {
		if !strings.Contains(wide, want) {
			t.Errorf("without %q: %s", want, wide)
		}
	}
	if strings.Contains(wide, "+90") || strings.Contains(wide, "+91") {
		t.Error("what was changed with others, or is excluded, is drawn")
	}
}
