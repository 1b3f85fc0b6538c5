package calibrate

import (
	"math"
	"testing"
)

// TestDecisionsOfPlainCases: arms far apart differ by every rule, in the right direction and with the effect in
// the interval; an arm does not differ from a nearly equal copy.
func TestDecisionsOfPlainCases(t *testing.T) {
	control := []float64{1.00, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015, 0.985, 1.001}
	slower := make([]float64, len(control))
	near := make([]float64, len(control))
	for i, v := range control {
		slower[i] = v * (0.8 + 0.001*float64(i%3))
		near[i] = control[(i+3)%len(control)]
	}
	for _, r := range Rules() {
		d := r.decide(control, slower)
		if !d.Differs {
			t.Errorf("%s: a fifth slower does not differ", r.Name)
		}
		if !math.IsNaN(d.Low) && (d.High >= -0.15 || d.Low <= -0.25 || d.Low > d.High) {
			t.Errorf("%s: interval %g to %g of −0.2", r.Name, d.Low, d.High)
		}
		d = r.decide(control, near)
		if d.Differs {
			t.Errorf("%s: the same values in another order differ", r.Name)
		}
		if !math.IsNaN(d.Low) && (d.Low > 0 || d.High < 0) {
			t.Errorf("%s: interval %g to %g does not contain zero", r.Name, d.Low, d.High)
		}
	}
}

// TestRulesDifferInWhatTheyAsk: under a common drift, blocks detect a small shift that a rule for independent
// trials does not.
func TestRulesDifferInWhatTheyAsk(t *testing.T) {
	var control, variant []float64
	for i := range 10 {
		drift := 1 - 0.05*float64(i)
		control = append(control, drift)
		variant = append(variant, drift*(0.99+0.0005*float64(i%2)))
	}
	if !blocks(control, variant).Differs || welch(control, variant).Differs {
		t.Errorf("blocks %+v, Welch %+v", blocks(control, variant), welch(control, variant))
	}
}
