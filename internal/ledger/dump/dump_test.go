package dump

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/stats"
)

// TestEvidenceKeepsEffects: in percent, in points of shares, and in nanoseconds; what is not
// known is null, never nought.
func TestEvidenceKeepsEffects(t *testing.T) {
	share := ledger.Line{Metric: "loss_ratio", Published: &evidence.Published{Verdict: "difference", Agrees: true}, Changes: []ledger.Change{{Tunable: "a", After: "1"}, {Tunable: "b", Before: "2"}},
		Result: stats.Result{N: 5, Effect: stats.Effect{EffectPoints: stats.Num(-2.5), PointsLow: stats.Num(-3), PointsHigh: stats.Num(0)}, Verdict: stats.Better}}
	rate := ledger.Line{Metric: "forwarding_rate_pps", EffectNS: stats.Num(46), Result: stats.Result{N: 5, Effect: stats.EffectOf(stats.Interval{Estimate: 0, Low: -1, High: 1}), PHolm: stats.Num(0.2)}}
	rows := Evidence([]ledger.Line{share, rate})
	a, b := rows[0], rows[1]
	if a.EffectPercent != nil || a.CILow != nil || a.EffectPoints == nil || *a.EffectPoints != -2.5 || *a.PointsLow != -3 || *a.PointsHigh != 0 || a.EffectNS != nil || a.P != nil {
		t.Errorf("a share: %+v", a)
	}
	if b.EffectPoints != nil || b.EffectPercent == nil || *b.EffectPercent != 0 || *b.CILow != -1 || *b.EffectNS != 46 || *b.PHolm != 0.2 || b.Agrees != nil {
		t.Errorf("a rate: %+v", b)
	}
	if a.Changes != "a: default → 1; b: 2 → default" || a.Published != "difference" || a.Agrees == nil || !*a.Agrees || a.N != 5 || a.Verdict != "better" {
		t.Errorf("%+v", a)
	}
	var out strings.Builder
	if err := Write(&out, "csv", rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	head := strings.Split(lines[0], ",")
	at := func(line, column string) string {
		return strings.Split(line, ",")[slices.Index(head, column)]
	}
	if at(lines[1], "effect_points") != "-2.5" || at(lines[1], "effect_percent") != "" || at(lines[2], "effect_percent") != "0" || at(lines[2], "points_low") != "" {
		t.Errorf("%s", out.String())
	}
	if err := Write(&out, "xml", rows); err == nil || !strings.Contains(hint.Of(err), "markdown") {
		t.Errorf("an unknown format: %v", err)
	}
}

// TestTrialsAreRowsOfMetrics: a row for each metric, in order; a trial without any has one.
func TestTrialsAreRowsOfMetrics(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	rows := Trials(&ledger.Study{Name: "s", ID: "abc"}, []ledger.Trial{
		{ID: "t1", Variant: "a", Valid: true, Block: 3, Start: &at, Metrics: map[string]float64{"pps": 5, "loss": 0}, Sources: []ledger.Ref{{Path: "x/log", SHA256: "11"}, {Path: "y"}}},
		{ID: "t2", Variant: "b", Reasons: []string{"drift: x", "stolen time: y"}, Flags: []string{"f", "g"}},
	})
	if len(rows) != 3 || rows[0].Metric != "loss" || rows[1].Metric != "pps" || rows[1].Value != 5 || rows[0].Block != 3 || rows[0].Start != "2026-03-04T05:06:07Z" || rows[0].Source != "x/log" || rows[0].SHA256 != "11" || !rows[0].Valid {
		t.Errorf("%+v", rows)
	}
	if last := rows[2]; last.Metric != "" || last.Reasons != "drift: x; stolen time: y" || last.Flags != "f; g" || last.Start != "" || last.Valid || last.StudyID != "abc" {
		t.Errorf("%+v", last)
	}
}
