package stats

import "testing"

// TestNothingIsLessThanNone: if one of the rates is zero the comparison is by difference, and the interval
// ends at −100 %.
func TestNothingIsLessThanNone(t *testing.T) {
	control := Arm{Name: "control", Values: []float64{11000, 12000, 12500}}
	c := CompareBlocks(control, []Arm{{Name: "variant", Values: []float64{0, 10, 2400}}}, Options{})[0]
	if c.Scale != Difference || c.EffectPercent.Low != -100 || !(c.EffectPercent.High > -90) {
		t.Errorf("%s: %+v", c.Scale, c.EffectPercent)
	}
	below := CompareBlocks(control, []Arm{{Name: "variant", Values: []float64{-12000, 10, -2400}}}, Options{})[0]
	if !(below.EffectPercent.Low < -100) {
		t.Errorf("for a metric that may be negative: %+v", below.EffectPercent)
	}
}

// TestResolutionIsError: values that scatter less than their resolution share the rounding error, so more of
// them add no certainty; two blocks give no verdict.
func TestResolutionIsError(t *testing.T) {
	values := func(v ...float64) Arm { return Arm{Values: v} }
	of := func(a, b Arm) Comparison {
		return CompareBlocks(a, []Arm{b}, Options{MarginPercent: 3})[0]
	}
	if c := of(values(100, 100), values(500, 500)); c.Verdict != Invalid {
		t.Errorf("two blocks: %s", c.Verdict)
	}
	// A histogram with buckets of 10 %: now and then one bucket apart.
	a, b := values(100, 110, 100, 100, 100, 100, 100, 100), values(110, 110, 110, 110, 100, 110, 110, 110)
	if c := of(a, b); c.Verdict.Differs() || !(c.EffectPercent.Half() > 8) {
		t.Errorf("one bucket apart: %s, %+v", c.Verdict, c.EffectPercent)
	}
	// Two constant arms: with ticks of 10 ms a tiny difference is noise, with packet-exact rates it is not.
	if c := of(values(10, 10, 10), values(20, 20, 20)); c.Verdict.Differs() {
		t.Errorf("one tick apart: %s, %+v", c.Verdict, c.EffectPercent)
	}
	if c := of(values(1012345, 1012345, 1012345), values(1275017, 1275017, 1275017)); c.Verdict != Better || !(c.EffectPercent.Half() < 0.1) {
		t.Errorf("searches that always end alike: %s, %+v", c.Verdict, c.EffectPercent)
	}
	if c := CompareBlocks(values(1012345, 1012345, 1012345), []Arm{values(1027001, 1027001, 1027001)}, Options{Bucket: 1.0 / 64})[0]; c.Verdict.Differs() {
		t.Errorf("one bucket of a histogram apart: %s, %+v", c.Verdict, c.EffectPercent)
	}
	fine := values(100, 101, 102, 99, 98, 101, 103, 97)
	if c := of(fine, values(110, 111, 109, 112, 110, 108, 111, 110)); c.Verdict != Better || !(c.EffectPercent.Half() < 4) {
		t.Errorf("scatter beyond the resolution: %s, %+v", c.Verdict, c.EffectPercent)
	}
}
