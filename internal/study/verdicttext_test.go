package study

import (
	"testing"

	"linerate/internal/stats"
)

// TestVerdictBesideNothing: an effect on a control near zero is shown in the metric's unit, not in percent.
func TestVerdictBesideNothing(t *testing.T) {
	ns, units := Metric{Name: "m", Label: "time", Unit: "ns", LowerIsBetter: true, NS: IsTime}, Metric{Name: "m", Label: "value", Unit: "units", LowerIsBetter: true}
	control := stats.Arm{Values: []float64{0, 0, 0, 0, 1e6, 0, 0}}
	worse := stats.Arm{Name: "slow", Values: []float64{409e6, 435e6, 409e6, 414e6, 412e6, 432e6, 446e6}}
	for _, c := range []struct {
		m                    Metric
		text, amount, answer string
	}{
		{ns, "+422 ms", "422 ms", "422 ms higher with slow"},
		{units, "+422,285,714 units", "422,285,714 units", "422,285,714 units higher with slow"},
	} {
		v := verdictOf(c.m, Goal{MarginPercent: 3}, stats.CompareSwitchback([]stats.Arm{control}, []stats.Arm{worse}, stats.Options{Better: stats.LowerIsBetter})[0])
		v.addNS(c.m, control.Values, worse.Values)
		if v.Text() != c.text || v.Amount() != c.amount || tellEffects([]Verdict{v}, c.m) != c.answer {
			t.Errorf("%s: %q, %q, %q", c.m.Unit, v.Text(), v.Amount(), tellEffects([]Verdict{v}, c.m))
		}
		if low, ok := v.DifferenceLow.Get(); !ok || low <= 0 || v.Bounds()[0] != '[' {
			t.Errorf("%s: bounds %s", c.m.Unit, v.Bounds())
		}
	}
	known := verdictOf(units, Goal{}, stats.CompareSwitchback([]stats.Arm{worse}, []stats.Arm{control}, stats.Options{})[0])
	if known.Difference.Known() || known.Text() != "−100 %" {
		t.Errorf("%s, %v", known.Text(), known.Difference)
	}
}
