package switchback

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
		t.Error("what could not be read trips")
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
		w.Begin()
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
		t.Error("trips without a control to compare with")
	}
}
