package stats

import "testing"

// TestNothingIsLessThanNone: of rates, one of which is zero, a difference decides, and
// its interval ends where there is nothing left.
func TestNothingIsLessThanNone(t *testing.T) {
	control := Arm{Name: "control", Values: []float64{11000, 12000, 12500}}
	c := CompareBlocks(control, []Arm{{Name: "variant", Values: []float64{0, 10, 2400}}}, Options{})[0]
	if c.Scale != Difference || c.EffectPercent.Low != -100 || !(c.EffectPercent.High > -90) {
		t.Errorf("%s: %+v", c.Scale, c.EffectPercent)
	}
	below := CompareBlocks(control, []Arm{{Name: "variant", Values: []float64{-12000, 10, -2400}}}, Options{})[0]
	if !(below.EffectPercent.Low < -100) {
		t.Errorf("of what may be negative: %+v", below.EffectPercent)
	}
}
