package study

import (
	"strings"
	"testing"

	"linerate/internal/search"
)

// TestBoundsOfTheSameSearches: a search without an upper bound must not raise the mean of the
// lower bounds above that of the other searches' upper bounds.
func TestBoundsOfTheSameSearches(t *testing.T) {
	run := func(lower, upper float64) Trial {
		g := search.GoalResult{Goal: search.Goal{Name: "ndr"}, Lower: &lower, Throughput: &lower}
		if upper > 0 {
			g.Upper = &upper
		}
		return Trial{Part: "search", Variant: "a", Valid: true, Observed: &Observation{Search: &SearchRun{Goals: []search.GoalResult{g}}}}
	}
	for want, trials := range map[string][]Trial{
		"500 kpps 520 kpps": {run(5e5, 5.2e5), run(9e5, 0)},
		"900 kpps –":        {run(9e5, 0)},
	} {
		table := searchTable(Results{Control: "a", Trials: trials}, "search")
		if strings.Join(table.Rows[0][2:4], " ") != want {
			t.Errorf("%v, want %s", table.Rows, want)
		}
	}
}
