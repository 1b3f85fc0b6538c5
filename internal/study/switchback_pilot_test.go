package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// ar1 draws values whose logarithms are an AR(1) process plus white noise.
func ar1(r *rand.Rand, n int, sd, fade, noise float64) []float64 {
	x, state := make([]float64, n), sd*r.NormFloat64()
	for i := range x {
		state = fade*state + math.Sqrt(1-fade*fade)*sd*r.NormFloat64()
		x[i] = math.Exp(state + noise*r.NormFloat64())
	}
	return x
}

// TestPilotForetellsPairs: the scatter that a pilot predicts is that of windows of the same process.
func TestPilotForetellsPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	design := WindowPlan{Window: 20 * time.Second, BurnIn: 4 * time.Second, Treatments: []string{"a"}}
	for _, c := range []struct{ sd, fade, noise float64 }{{0, 0, 0.05}, {0.05, 0.9, 0}, {0.05, 0.9, 0.05}, {0.1, 0.97, 0.02}} {
		p, ok := PilotOf(ar1(r, 4000, c.sd, c.fade, c.noise), time.Second)
		if !ok {
			t.Fatal("no pilot")
		}
		var ss float64
		const n = 4000
		for range n {
			x := ar1(r, 40, c.sd, c.fade, c.noise)
			d := 0.0
			for i := 4; i < 20; i++ {
				d += (math.Log(x[20+i]) - math.Log(x[i])) / 16
			}
			ss += d * d
		}
		seen := math.Sqrt(ss / n)
		if got := p.PairSD(design); !(math.Abs(math.Log(got/seen)) <= 0.2) {
			t.Errorf("%+v: predicted a standard deviation of %.4f, but windows have %.4f (%+v)", c, got, seen, p)
		}
	}
}

func TestPilotHalfWidth(t *testing.T) {
	p := Pilot{Every: time.Second, SD: 0.05, N: 100}
	d := WindowPlan{Window: 5 * time.Minute, BurnIn: time.Minute, Treatments: []string{"a"}}
	if h := p.HalfWidth(d, time.Hour); !math.IsNaN(h) {
		t.Errorf("three pairs cannot decide, but the half-width is ±%g", h)
	}
	six, day := p.HalfWidth(d, 6*time.Hour), p.HalfWidth(d, 24*time.Hour)
	if !(day > 0 && day < 0.6*six) {
		t.Errorf("the half-width is ±%g after six hours and ±%g after a day", six, day)
	}
}

func TestPilotOfLittle(t *testing.T) {
	for name, values := range map[string][]float64{
		"none": nil, "few": {1, 2, 3}, "constant": make([]float64, 20), "same": {5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
	} {
		if p, ok := PilotOf(values, time.Second); ok {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestPilotLacks: a pilot without scatter says why.
func TestPilotLacks(t *testing.T) {
	x := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	for want, values := range map[string][]float64{
		"no values": x(9, math.NaN()), "always 0": x(50, 0), "nearly always 0": append(x(40, 0), 1, 2), "always the same": x(20, 3), "too few values": {1, 2, 3}, "": {1, 2, 3, 1, 2, 3, 1, 2, 3},
	} {
		if p, ok := PilotOf(values, time.Second); p.Lacks() != want || ok != (want == "") {
			t.Errorf("%v: %q, want %q", values, p.Lacks(), want)
		}
	}
}

// TestBurnInOfThePilot: the burn-in is extended where that costs no precision, up to half the window.
func TestBurnInOfThePilot(t *testing.T) {
	d := WindowPlan{Window: 5 * time.Minute, BurnIn: time.Minute}
	noise := Pilot{Every: 5 * time.Second, N: 100, SD: 0.1}
	slow := noise
	slow.Memory, slow.Fade = 0.95, 0.99
	if got := noise.BurnIn(d); got != d.BurnIn {
		t.Errorf("burn-in for white noise: %s", got)
	}
	if got := slow.BurnIn(d); got <= d.BurnIn || got > d.Window/2 {
		t.Errorf("burn-in for a slowly varying metric: %s", got)
	}
	if got := (Pilot{}).BurnIn(d); got != d.BurnIn {
		t.Errorf("burn-in without a pilot: %s", got)
	}
}

// TestPairsFromThePilot: a study plans as many pairs as detecting its target effect takes, within
// its own limits, and says what it could detect instead.
func TestPairsFromThePilot(t *testing.T) {
	s := switchbackParse(t, strings.Replace(live, "blocks: 8, live: {window: 60,", "blocks: 64, live: {window: 60, plan_percent: 3,", 1))
	for _, c := range []struct {
		sd   float64
		want int
		says string
	}{{0.05, 8, "; an hour sees 1.5 %"}, {0.15, 0, "to see 3.0 % with a power of 0.8 takes "}, {3, 48, "; the 48 of this study see "}, {0, 12, ""}} {
		p := Pilot{Every: 5 * time.Second, N: 100, SD: c.sd}
		planned, pairs, why := s.Planned(map[string]Pilot{RoundTrip: p})
		if c.want > 0 && pairs != c.want || !strings.Contains(why, c.says) || PlanOf(planned, planned.Parts[0]).Pairs != pairs || planned.Parts[0].Live.PlanPercent != 0 {
			t.Errorf("scatter of %g: planned %d pairs, %q", c.sd, pairs, why)
		}
		if d := PlanOf(s, s.Parts[0]); c.want == 0 && !(p.sees(d, pairs) <= 3 && p.sees(d, pairs-1) > 3) {
			t.Errorf("%d pairs can detect %g %%, but should detect 3 with the fewest pairs", pairs, p.sees(d, pairs))
		}
	}
	s.Parts[0].Live.PlanPercent = 0
	if _, pairs, why := s.Planned(nil); pairs != 0 || why != "" {
		t.Errorf("a study that sets its own number of pairs: %d, %q", pairs, why)
	}
}
