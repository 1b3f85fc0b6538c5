package planner

import (
	"testing"

	"linerate/internal/evidence"
	"linerate/internal/stats"
)

// TestClearestGain: of several gains the one that was measured most often is the
// plan's, wherever it stands; a loss beside it is a conflict.
func TestClearestGain(t *testing.T) {
	row := func(id string, n int, v stats.Verdict) evidence.Row { return evidence.Row{ID: id, N: n, Verdict: v} }
	few, many, most := row("few", 3, stats.Better), row("many", 9, stats.Better), row("most", 30, stats.Inconclusive)
	loss := row("loss", 5, stats.Worse)
	for _, c := range []struct {
		of       []evidence.Row
		gain     string
		conflict bool
	}{
		{[]evidence.Row{few, many, most}, "many", false},
		{[]evidence.Row{many, most, few}, "many", false},
		{[]evidence.Row{most, few}, "few", false},
		{[]evidence.Row{loss, most}, "", false},
		{[]evidence.Row{loss, few, many}, "many", true},
	} {
		gain, conflict := verdictOf(c.of)
		id := ""
		if gain != nil {
			id = gain.ID
		}
		if id != c.gain || conflict != c.conflict {
			t.Errorf("%+v: gain %q, conflict %v; want %q, %v", c.of, id, conflict, c.gain, c.conflict)
		}
	}
}
