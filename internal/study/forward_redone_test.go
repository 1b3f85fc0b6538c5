package study

import (
	"strings"
	"testing"

	"linerate/internal/stats"
)

// TestWhatWasDoneAgainIsTold: warnings say how many slices of which arm were repeated and why, and
// why trials are invalid.
func TestWhatWasDoneAgainIsTold(t *testing.T) {
	s, err := Parse("x", []byte("name: x\nquestion: q\nvariants: [{name: a}, {name: b}]\nparts: [{name: over, mode: overload}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	trial := func(variant string, block int, redone *Redone, reasons ...string) Trial {
		return Trial{Part: "over", Mode: "overload", Variant: variant, Block: block, Reasons: Reasons(reasons...), Valid: len(reasons) == 0,
			Observed: &Observation{Redone: redone}}
	}
	r := Analyse(s, 1, Environment{}, []Trial{
		trial("a", 1, &Redone{Slices: 3, Starved: 1}), trial("b", 1, &Redone{Slices: 2}, "starved: the DUT's thread waited"),
		trial("a", 2, nil, "unsent: 4 %", "starved: too"), trial("b", 2, nil, "unsent: 5 %"),
		{Part: "over", Variant: "b", Block: 3, Unavailable: "gone", Reasons: Reasons("unavailable: gone")},
	})
	warned := strings.Join(r.Warnings, "\n")
	for _, want := range []string{"3 of 4 trials are invalid", "with reasons (2 unsent and 1 starved)",
		"slices repeated: 4 because the generator fell short of its rate, 1 because the router waited for its CPU (5 of part over)"} {
		if !strings.Contains(warned, want) {
			t.Errorf("no %q in:\n%s", want, warned)
		}
	}
}

// TestWhatCannotBeDetected: two shares cannot differ by more than 100 points.
func TestWhatCannotBeDetected(t *testing.T) {
	for points, want := range map[float64]string{12: "12", 105: "none: shares differ by 100 points at most"} {
		r := Results{MDE: stats.Num(700), MDEPoints: stats.Num(points)}
		if got := r.Detectable(); !strings.HasPrefix(got, want) || strings.Contains(got, "105") {
			t.Errorf("detectable %g points: %q, want %q", points, got, want)
		}
	}
	if r := (Results{MDE: stats.Num(700)}); r.Detectable() != "700 %" {
		t.Errorf("detectable effect on a rate: %q", r.Detectable())
	}
}

// TestWarmUpOfBothDirections: the warm-up sends every flow twice in each direction.
func TestWarmUpOfBothDirections(t *testing.T) {
	for _, c := range []struct {
		flows      int
		directions string
		want       int
	}{
		{10, "one", warmFrames}, {10, BothWays, 2 * warmFrames},
		{100_000, "one", 200_000}, {100_000, BothWays, 400_000},
	} {
		s := Spec{Workload: Workload{Flows: c.flows}}
		p := Part{Seconds: 0.1, Directions: c.directions}
		if got := Slicing(&s, p, BySlices, 1, 1, 1, 3).Warm; got != c.want {
			t.Errorf("%d flows, %s: %d frames, want %d", c.flows, c.directions, got, c.want)
		}
	}
}
