package dump

import (
	"strings"
	"testing"

	"linerate/internal/ledger"
)

// TestMarkdownNamesMetrics: of several metrics each line says which it is of; one
// needs no column.
func TestMarkdownNamesMetrics(t *testing.T) {
	line := func(metric string) ledger.Line {
		return ledger.Line{Metric: metric, Study: "s", Changes: []ledger.Change{{Tunable: "kern.x", After: "1"}}}
	}
	for _, c := range []struct {
		metrics []string
		want    bool
	}{{[]string{"rate", "rate"}, false}, {[]string{"rate", "cost"}, true}} {
		var lines []ledger.Line
		for _, m := range c.metrics {
			lines = append(lines, line(m))
		}
		var b strings.Builder
		if err := Markdown(&b, lines); err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSpace(b.String()), "\n")[2:]
		for i, row := range rows {
			if strings.Count(row, "|") != strings.Count(rows[0], "|") {
				t.Errorf("%v: a row of other columns:\n%s", c.metrics, b.String())
			}
			if says := i > 1 && strings.Contains(row, "| "+c.metrics[i-2]+" |"); i > 1 && says != c.want {
				t.Errorf("%v: named %v, want %v:\n%s", c.metrics, says, c.want, b.String())
			}
		}
		if strings.Contains(rows[0], "| metric |") != c.want {
			t.Errorf("%v: %s", c.metrics, rows[0])
		}
	}
}
