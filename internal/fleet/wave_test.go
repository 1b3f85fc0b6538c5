package fleet

import (
	"slices"
	"testing"

	"linerate/internal/hint"
)

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		steps string
		hosts int
		want  []int
	}{
		{"1,5%,100%", 240, []int{1, 12, 240}},
		{"1,5%,100%", 10, []int{1, 10}},     // 5 % of ten is one, already done
		{"1,5%,100%", 21, []int{1, 2, 21}},  // rounded up
		{"1,5%,100%", 1, []int{1}},          // only the canary
		{"1,5%,100%", 0, nil},               // nothing to do
		{"2,10", 4, []int{2, 4}},            // numbers are limited to the fleet
		{"10%", 100, []int{10}},             // the rest is not in any step
		{"0.5%,100%", 1000, []int{5, 1000}}, // fractions of a percent
		{"33.3%,66.6%,100%", 3, []int{1, 2, 3}},
		{" 1 , 50% , 100% ", 4, []int{1, 2, 4}},
	} {
		s, err := ParseSteps(c.steps)
		if err != nil {
			t.Errorf("%s: %v", c.steps, err)
			continue
		}
		if got := s.Divide(c.hosts); !slices.Equal(got, c.want) {
			t.Errorf("%s of %d: %v, want %v", c.steps, c.hosts, got, c.want)
		}
	}
	for _, bad := range []string{"", "0", "0%", "1,,2", "5%,5%", "10%,5%", "3,2", "101%", "-1", "many", "1,x%", "1e9"} {
		if s, err := ParseSteps(bad); err == nil || !hint.IsUsage(err) {
			t.Errorf("%q: %v, %v", bad, s, err)
		}
	}
	if got := []int{StepOf([]int{1, 12, 240}, 0), StepOf([]int{1, 12, 240}, 1), StepOf([]int{1, 12, 240}, 239), StepOf([]int{1, 12}, 12)}; !slices.Equal(got, []int{1, 2, 3, 0}) {
		t.Errorf("StepOf: %v", got)
	}
}

// TestPart: the number of tolerated failures is rounded down, so that a canary's failure is never tolerated.
func TestPart(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want int
	}{{"10%", 1, 0}, {"10%", 11, 1}, {"0", 100, 0}, {"3", 2, 2}, {"100%", 7, 7}} {
		p, err := ParsePart(c.text)
		if err != nil || p.Of(c.n, false) != c.want {
			t.Errorf("%s of %d: %d, %v", c.text, c.n, p.Of(c.n, false), err)
		}
	}
}

// TestLast: the last event counts, and the host's own identifier of the change is kept.
func TestLast(t *testing.T) {
	e := func(name string, s WaveState, txn string) WaveEvent {
		return WaveEvent{Name: name, State: s, Transaction: txn}
	}
	got := Last([]WaveEvent{e("a", WavePlanned, ""), e("b", WavePlanned, ""), e("b", WaveApplying, ""), e("b", WavePending, "000001-x"), e("a", WaveSkipped, ""),
		e("b", WaveReverted, ""), e("b", WaveApplying, ""), e("b", WavePending, "000002-x"), e("b", WaveConfirmed, "")})
	if want := []WaveEvent{e("a", WaveSkipped, ""), e("b", WaveConfirmed, "000002-x")}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := CountStates(got); n[WaveConfirmed] != 1 || n[WaveSkipped] != 1 || len(n) != 2 {
		t.Errorf("counts: %v", n)
	}
	for _, s := range WaveStates() {
		if s.Has() && s.Open() || s.InFlight() && !s.Open() {
			t.Errorf("%s counts both as success and as failure", s)
		}
	}
}
