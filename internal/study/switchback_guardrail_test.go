package study

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestAbsoluteGuardrail(t *testing.T) {
	w := Watch{Guardrail: Guardrail{Name: "memory in use", Limit: 0.95, Checks: 2, Unit: "%"}}
	for i, c := range []struct {
		value float64
		trips bool
	}{{0.5, false}, {0.97, false}, {0.9, false}, {0.96, false}, {0.97, true}} {
		trip, trips := w.Check(c.value, 0)
		if trips != c.trips {
			t.Errorf("check %d of %g: trips %v", i, c.value, trips)
		}
		if trips && !strings.Contains(trip.Text, "memory in use was 97.0 %, beyond 95.0 %") {
			t.Errorf("%q", trip.Text)
		}
	}
	if w.Nearest.Share < 1 {
		t.Errorf("closest %g after a trip", w.Nearest.Share)
	}
	if _, trips := w.Check(math.NaN(), 0); trips {
		t.Error("a value that could not be read trips the guardrail")
	}
}

func TestRelativeGuardrail(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(level float64) float64 { return level * math.Exp(0.05*r.NormFloat64()) }
	fresh := func() *Watch {
		w := &Watch{Guardrail: Guardrail{Name: "p95", HarmPercent: 20}}
		for range 50 {
			w.Control(draw(100))
		}
		w.Begin("it")
		return w
	}
	for _, c := range []struct {
		level float64
		trips bool
	}{{100, false}, {80, false}, {110, false}, {150, true}, {1000, true}} {
		w := fresh()
		tripped := 0
		for i := 1; i <= 30 && tripped == 0; i++ {
			if _, trips := w.Check(draw(c.level), 0); trips {
				tripped = i
			}
		}
		if (tripped > 0) != c.trips || tripped > 10 {
			t.Errorf("level %g: tripped at %d", c.level, tripped)
		}
		if c.trips != (w.Nearest.Share >= 1) {
			t.Errorf("level %g: closest %g", c.level, w.Nearest.Share)
		}
	}
	w := &Watch{Guardrail: Guardrail{Name: "p95", HarmPercent: 20}}
	if _, trips := w.Check(1e9, 0); trips {
		t.Error("the guardrail trips without a control to compare with")
	}
}

// TestLooksInARow: consecutive looks without a request trip soon if the control never has them, and
// only after a longer run than the control's if it has; a few looks at the control decide nothing.
func TestLooksInARow(t *testing.T) {
	for name, c := range map[string]struct {
		control     string // looks, repeated: '.' a request came, 'x' none did
		times       int
		least, most float64 // looks until it trips; 0: it never does
	}{
		"always":              {".", 100, 4, 6},
		"nothing is known":    {".", 1, 0, 0},
		"a quiet server":      {"...........xxxxxxxxxxx", 0, 0, 0},
		"one in twelve":       {"xxxxxxxxxxx.", 40, 150, 250},
		"gaps of a minute":    {"........................xxxxxxxxxxxx", 30, 37, 60},
		"one gap of a minute": {strings.Repeat(".", 100) + "xxxxxxxxxxxx.", 1, 121, 130},
		"never":               {"x", 100, 0, 0},
	} {
		w := Watch{Guardrail: NoRequests("a log")}
		for range c.times {
			for _, look := range c.control {
				w.Control(map[rune]float64{'x': 1}[look])
			}
		}
		tripped := 0.0
		for n := 1; n < 2000 && tripped == 0; n++ {
			w.Begin("it") // a run continues in the next window
			if trip, trips := w.Check(1, 0); trips {
				tripped = float64(n)
				if trip.Value != tripped || w.Nearest.Share < 1 {
					t.Errorf("%s: %+v, %+v", name, trip, w.Nearest)
				}
			}
		}
		if tripped < c.least || tripped > c.most {
			t.Errorf("%s: %g looks trip, not %g to %g", name, tripped, c.least, c.most)
		}
	}
}

// TestSpaced: a stretch ends after ten requests, or after the time that ten would have taken.
func TestSpaced(t *testing.T) {
	var s Spaced
	ends := func(treatment string, requests ...float64) (v float64) {
		for i, n := range requests {
			if v = s.Look(treatment, 5, n); i+1 < len(requests) && !math.IsNaN(v) {
				t.Errorf("a stretch ended after %d looks", i+1)
			}
		}
		return v
	}
	if v := ends("", 4, 4, 4); v != 15.0/13 {
		t.Errorf("%g s between requests, not 15/13", v)
	}
	if v := ends("", 30); v != 5.0/31 {
		t.Errorf("%g s between requests, not 5/31", v)
	}
	// 42 in 20 s: ten would have taken 4.8 s.
	if v := ends("it", 0); v != 5 {
		t.Errorf("%g s between none, not 5", v)
	}
	if v := s.Look("it", 5, math.NaN()); !math.IsNaN(v) {
		t.Errorf("an unknown number of requests gives %g, want NaN", v)
	}
}

// TestLateGuardrail: harm that shows one window late stops the study under the treatment that caused
// it; a beneficial treatment, whose windows follow the control's, does not.
func TestLateGuardrail(t *testing.T) {
	const good, harm = 0.5, 5.0
	for _, c := range []struct {
		now, late float64
		trips     bool
	}{{good, 1, false}, {1, 1, false}, {1, harm, true}, {harm, 1, false}} {
		r := rand.New(rand.NewPCG(1, 1))
		l := Guardrail{Name: "p95", HarmPercent: 20}.Late()
		level, tripped := 1.0, ""
		for range 24 {
			pair := []string{Control, "it"}
			if r.IntN(2) == 0 {
				pair = []string{"it", Control}
			}
			for _, arm := range pair {
				l.Begin(arm)
				now := level
				if level = 1; arm == "it" {
					now, level = now*c.now, c.late
				}
				for range 20 {
					if arm == "it" {
						continue
					}
					if trip, trips := l.Check(100*now*math.Exp(0.05*r.NormFloat64()), 0); trips && tripped == "" {
						tripped = trip.Text
						if variant, _ := TripOf([]Trial{{Variant: Control, Observed: &Observation{Window: &Window{Trip: &trip}}}}); variant != "it" {
							t.Errorf("the study was stopped under %s", variant)
						}
					}
				}
			}
		}
		if (tripped != "") != c.trips || c.trips && !strings.HasSuffix(tripped, "in the window after it") {
			t.Errorf("%+v: %q", c, tripped)
		}
	}
}
