package ledger

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/evidence"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// nightly returns a study's verdicts of n nights: the control's mean rises by 5 % after 60, the effects stay.
func nightly(n int) (lines []Line) {
	begin := time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)
	for i := range n {
		mean := 800 + 3*math.Sin(float64(7*i))
		if i >= 60 {
			mean *= 1.05
		}
		for _, variant := range []string{"rules-1", "rules-100"} {
			l := Line{Unit: "ns/packet", ControlMean: stats.Num(mean)}
			l.Row = evidence.Row{Subject: evidence.Subject{MachineID: "m"}, Study: "firewall-rules", StudyID: fmt.Sprint(i), Workload: "forward", Metric: "ns_per_packet", Control: "none", Variant: variant, Started: begin.AddDate(0, 0, i)}
			l.EffectPercent = stats.Num(10 + math.Cos(float64(5*i)))
			lines = append(lines, l)
		}
	}
	return lines
}

func TestTrends(t *testing.T) {
	lines := nightly(80)
	lines[0].Excluded, lines[1].Excluded = "a test", "a test"
	all := Trends(lines)
	if len(all) != 3 {
		t.Fatalf("%d series, want the control's and two variants'", len(all))
	}
	for _, r := range all {
		if r.Runs != 79 {
			t.Errorf("%s: %d runs, want 79", r.Arm, r.Runs)
		}
		if r.Against != "" {
			if len(r.Steps) > 0 || r.Shows == 0 || !strings.Contains(r.says(), "no step; one of 2 % would be seen in") {
				t.Errorf("%s: %+v, %s", r.Arm, r.Steps, r.says())
			}
			continue
		}
		if len(r.Steps) != 1 || r.Steps[0].First.Sub(lines[120].Started).Abs() > 24*time.Hour || math.Abs(r.Steps[0].Size.EffectPercent.Float()-5) > 0.5 {
			t.Errorf("steps of the control: %+v", r.Steps)
		}
	}
	page := show.NewPage(show.Style{})
	PrintTrends(page, all)
	var b strings.Builder
	if err := page.Flush(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"since 2026-03-0", "rules-1 against none", "make both states variants of one study"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestTrendsOfFewRuns(t *testing.T) {
	if all := Trends(nightly(1)); len(all) != 0 {
		t.Errorf("one run: %+v", all)
	}
	for _, r := range Trends(nightly(12)) {
		if r.says() != "too few runs: 41 at least" {
			t.Error(r.says())
		}
	}
}
