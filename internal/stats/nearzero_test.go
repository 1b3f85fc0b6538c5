package stats

import (
	"math"
	"testing"
)

// windows of a log that counts whole milliseconds: with the setting most requests take 0.
var (
	asIs = Arm{Name: "as-is", Values: []float64{409e6, 435e6, 409e6, 414e6, 412e6, 432e6, 446e6, 415e6, 411e6}}
	fast = Arm{Name: "setting", Values: []float64{0, 0, 0, 0, 0, 409e6, 0, 0, 0}}
	idle = Arm{Name: "as-is", Values: []float64{0, 0, 0, 0, 1e6, 0, 0, 0, 0}}
)

// TestNothingFallsByMoreThanAll: neither at the end nor at a look, whose interval is wider.
func TestNothingFallsByMoreThanAll(t *testing.T) {
	opt := Options{Better: LowerIsBetter, MarginPercent: 3}
	c := CompareSwitchback([]Arm{asIs}, []Arm{fast}, opt)[0]
	s, err := NewSequential([]int{9, 10}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	look, _ := s.Settle(c, 0, opt)
	for name, c := range map[string]Comparison{"end": c, "look": look} {
		if e := c.Result(); c.Verdict != Better || !(e.CILow.Float() >= -100) || !(e.EffectPercent.Float() > -100) {
			t.Errorf("%s: %s by %s %s", name, c.Verdict, e.Text(), e.Bounds())
		}
	}
	if !(look.Effect.Low < c.Effect.Low) {
		t.Errorf("the look's interval from %g is no wider than %g", look.Effect.Low, c.Effect.Low)
	}
}

// TestNothingIsRelativeToNothing: where the control's interval holds zero there is no
// percentage, neither of the effect nor of what could have been seen; the test still decides.
func TestNothingIsRelativeToNothing(t *testing.T) {
	c := CompareSwitchback([]Arm{idle}, []Arm{{Name: "slow", Values: asIs.Values}}, Options{Better: LowerIsBetter})[0]
	if e := c.Result(); c.Verdict != Worse || e.EffectPercent.Known() || e.CIHigh.Known() || !math.IsNaN(c.DetectablePercent) {
		t.Errorf("%s: %v, detectable %g", c.Verdict, e.Effect, c.DetectablePercent)
	}
	if !(c.Effect.Low > 0) {
		t.Errorf("the difference is %+v", c.Effect)
	}
}
