package report

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// TestWordsOfAStep: having any at all is distinguished from each, where it is known.
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

// TestWordsOfScaling: the law's terms are told as what they are.
func TestWordsOfScaling(t *testing.T) {
	u := study.Scales{Gamma: 1.6e6, Sigma: 0.12, SigmaLow: stats.Num(0.11), SigmaHigh: stats.Num(0.13), Kappa: 0.004,
		KappaLow: stats.Num(0.003), KappaHigh: stats.Num(0.005), Peak: stats.Num(14.8), Limit: "A share is serial: look for a lock that all cores take."}
	want := "one CPU 1.60 Mpps; 12.0 % [11.0, 13.0] of the work is done by one CPU at a time (contention σ, as at a lock), " +
		"and each pair of CPUs costs the other 0.40 % [0.30, 0.50] (coherency κ, as of cache lines that both write); " +
		"beyond 14.8 CPUs more would make it slower. A share is serial: look for a lock that all cores take"
	if got := scales(u); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	u.Peak = stats.Num(math.Inf(1))
	if got := scales(u); strings.Contains(got, "beyond") {
		t.Errorf("%q", got)
	}
}
