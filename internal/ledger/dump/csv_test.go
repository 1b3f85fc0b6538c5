package dump

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/stats"
)

// read is a table of CSV as its rows, each by its columns.
func read(t *testing.T, text string) (rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func holds(t *testing.T, row map[string]string, want ...string) {
	t.Helper()
	for pair := range slices.Chunk(want, 2) {
		if got, ok := row[pair[0]]; !ok || got != pair[1] {
			t.Errorf("%s is %q, want %q", pair[0], got, pair[1])
		}
	}
}

// TestEvidenceKeepsEffects: in percent, in points of shares, and in nanoseconds; what is not
// known is empty, never nought.
func TestEvidenceKeepsEffects(t *testing.T) {
	share := ledger.Line{Metric: "loss_ratio", Published: &evidence.Published{Verdict: "difference", Agrees: true}, Changes: []ledger.Change{{Tunable: "a", After: "1"}, {Tunable: "b", Before: "2"}},
		Result: stats.Result{N: 5, Effect: stats.Effect{EffectPoints: stats.Num(-2.5), PointsLow: stats.Num(-3), PointsHigh: stats.Num(0)}, Verdict: stats.Better}}
	rate := ledger.Line{Metric: "forwarding_rate_pps", EffectNS: stats.Num(46), Result: stats.Result{N: 5, Effect: stats.EffectOf(stats.Interval{Estimate: 0, Low: -1, High: 1}), PHolm: stats.Num(0.2)}}
	var out strings.Builder
	if err := Evidence(&out, []ledger.Line{share, rate}); err != nil {
		t.Fatal(err)
	}
	rows := read(t, out.String())
	holds(t, rows[0], "effect_percent", "", "ci_low", "", "effect_points", "-2.5", "points_low", "-3", "points_high", "0", "effect_ns", "", "p_value", "",
		"changes", "a: default → 1; b: 2 → default", "published", "difference", "n", "5", "verdict", "better", "alone", "false", "study", "", "cores", "0")
	holds(t, rows[1], "effect_points", "", "effect_percent", "0", "ci_low", "-1", "effect_ns", "46", "p_holm", "0.2", "published", "", "points_low", "")
}

// TestTrialsAreRowsOfMetrics: a row for each metric, in order; a trial without any has one.
func TestTrialsAreRowsOfMetrics(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var out strings.Builder
	err := Trials(&out, []ledger.Study{{Name: "s", ID: "abc"}}, func(ledger.ID) ([]ledger.Trial, error) {
		return []ledger.Trial{
			{ID: "t1", Variant: "a", Valid: true, Block: 3, Start: &at, Metrics: map[string]float64{"pps": 5, "loss": 0}, Sources: []ledger.Ref{{Path: "x/log", SHA256: "11"}, {Path: "y"}}},
			{ID: "t2", Variant: "b", Reasons: []string{"drift: x", "stolen time: y"}, Flags: []string{"f", "g"}},
		}, nil
	})
	rows := read(t, out.String())
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	holds(t, rows[0], "metric", "loss", "value", "0", "block", "3", "start", "2026-03-04T05:06:07Z", "source", "x/log", "sha256", "11", "valid", "true")
	holds(t, rows[1], "metric", "pps", "value", "5")
	holds(t, rows[2], "metric", "", "value", "", "reasons", "drift: x; stolen time: y", "flags", "f; g", "start", "", "valid", "false", "study_id", "abc")
}
