package study

import (
	"math/rand/v2"
	"testing"
)

// TestTreatmentsAreGuardedApart: of two treatments in alternating windows, a harmless one neither
// hides the other's harm nor is blamed for it.
func TestTreatmentsAreGuardedApart(t *testing.T) {
	const looks, quiet = 60, 0.1 // looks per window; one request in ten looks
	for name, rail := range map[string]Guardrail{"a run": NoRequests("a log"), "the time between": TimeBetween("a log")} {
		r := rand.New(rand.NewPCG(4, 4))
		w, s := Watch{Guardrail: rail}, Spaced{}
		came := func() float64 {
			if r.Float64() < quiet {
				return 1
			}
			return 0
		}
		value := func(treatment string, n float64) float64 {
			if rail.InARow {
				return 1 - n
			}
			return s.Look(treatment, 5, n)
		}
		tripped, windows := "", 0
		for ; windows < 40 && tripped == ""; windows++ {
			for range 2 * looks {
				w.Control(value("", came()))
			}
			arm := []string{"harmless", "silent"}[windows%2]
			w.Begin(arm)
			for range looks {
				n := 0.0
				if arm == "harmless" {
					n = came()
				}
				if _, trips := w.Check(value(arm, n), 0); trips {
					tripped = arm
					break
				}
			}
		}
		if tripped != "silent" || windows > 20 {
			t.Errorf("%s: it was %q that tripped after %d windows", name, tripped, windows)
		}
	}
}

// TestHarmIsOfItsTreatment: values beyond the limit under one treatment do not count under the next.
func TestHarmIsOfItsTreatment(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	w := Watch{Guardrail: Guardrail{Name: "p95", HarmPercent: 20}}
	for range 50 {
		w.Control(100 + r.NormFloat64())
	}
	w.Begin("slow")
	for range 10 {
		if _, trips := w.Check(119+r.NormFloat64(), 0); trips {
			t.Fatal("it trips at 19 %, but 20 % are allowed")
		}
	}
	w.Begin("fast")
	for _, v := range []float64{90, 91, 89, 90} {
		if _, trips := w.Check(v, 0); trips || w.Nearest.Share > 0 {
			t.Errorf("trips %v, %+v", trips, w.Nearest)
		}
	}
	w.Begin("slow")
	if w.Check(119, 0); w.Nearest.Share < 0.5 {
		t.Errorf("the treatment's first window was forgotten: %+v", w.Nearest)
	}
}
