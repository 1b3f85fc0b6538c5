package main

import (
	"io"
	"strings"
	"testing"

	"linerate/internal/stats"
)

// TestProgressOfNothingKnown: a confidence interval wider than any plausible effect counts as not known.
func TestProgressOfNothingKnown(t *testing.T) {
	for _, c := range []struct {
		aa, widest stats.Number
		want       string
	}{
		{stats.Num(64239), stats.Num(900), ""},
		{stats.Num(64239), stats.Num(2.5), "; A/A unknown, widest ±2.50 %"},
		{stats.Num(0.31), stats.Num(2.5), "; A/A ±0.31 %, widest ±2.50 %"},
		{stats.Number{}, stats.Number{}, ""},
	} {
		p := newProgress(io.Discard)
		p.interim = func() (aa, widest stats.Number) { return c.aa, c.widest }
		if p.narrow(); p.known != c.want {
			t.Errorf("of %v and %v: %q, want %q", c.aa, c.widest, p.known, c.want)
		}
		p.points = true
		if p.narrow(); p.known != strings.ReplaceAll(c.want, "%", "points") {
			t.Errorf("shares are known to %q", p.known)
		}
	}
}

func TestNextStepsAreAligned(t *testing.T) {
	const column = 40
	for _, l := range strings.Split(nextSteps("DIR"), "\n")[2:6] {
		if strings.TrimSpace(l[column-2:column]) != "" || l[column] == ' ' {
			t.Errorf("the description of a command does not begin in column %d: %q", column, l)
		}
	}
}
