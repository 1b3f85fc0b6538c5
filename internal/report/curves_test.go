package report

import (
	"testing"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// TestWordsOfAStep: the cost of having any is distinguished from the cost of each, where it is
// known.
func TestWordsOfAStep(t *testing.T) {
	m, _ := study.MetricNamed(study.CostNS)
	f := study.PerOne{Base: 789, Each: 2.55, Low: stats.Num(2.53), High: stats.Num(2.56), Off: 0.32}
	if got, want := perOne(f, m), "each costs 2.55 ns [2.53, 2.56] per packet, on top of 789 ns; the points are within 0.32 % of that"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f.Any, f.AnyLow, f.AnyHigh = stats.Num(54.8), stats.Num(51), stats.Num(58.7)
	if got, want := perOne(f, m), "each costs 2.55 ns [2.53, 2.56] per packet, having any at all 54.8 ns [51, 58.7], on top of 789 ns; the points are within 0.32 % of that"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
