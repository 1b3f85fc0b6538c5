package stats

import (
	"math"
	"strings"
	"testing"
)

// TestSharesDifferByPoints: of shares near zero the ratio is enormous and says
// nothing; their difference decides, and is told.
func TestSharesDifferByPoints(t *testing.T) {
	loss := Options{Share: true, MarginPoints: 1, Better: LowerIsBetter}
	control := Arm{Name: "none", Values: []float64{0.0001, 0, 0.0003, 0.0001, 0.0002}}
	for _, c := range []struct {
		name    string
		control Arm
		values  []float64
		want    Verdict
		text    string
		ratio   bool // a change in percent of the control can be told
	}{
		{"near zero", control, []float64{0.0004, 0.0002, 0.0001, 0.0011, 0.0006}, Equivalent, "+0.03 points", false},
		{"17,000 times nothing", control, []float64{0.024, 0.022, 0.025, 0.021, 0.023}, Worse, "+2.3 points", false},
		{"of something", Arm{Name: "none", Values: []float64{0.40, 0.41, 0.39, 0.40, 0.42}}, []float64{0.20, 0.22, 0.18, 0.21, 0.19}, Better, "−20.4 points", true},
		{"of none at all", Arm{Name: "none", Values: make([]float64, 5)}, []float64{0.5, 0.52, 0.49, 0.51, 0.5}, Worse, "+50.4 points", false},
	} {
		got := CompareBlocks(c.control, []Arm{{Name: "v", Values: c.values}}, loss)[0]
		e := got.Result()
		if got.Verdict != c.want || e.Text() != c.text || e.EffectPercent.Known() != c.ratio {
			t.Errorf("%s: %s, %s, in percent %v; want %s, %s", c.name, got.Verdict, e.Text(), e.EffectPercent, c.want, c.text)
		}
		if size, low, high := e.Size(); size.Float() != 100*got.Effect.Estimate || !(low.Float() <= size.Float() && size.Float() <= high.Float()) {
			t.Errorf("%s: %v in [%v, %v]", c.name, size, low, high)
		}
		for _, w := range got.Warnings {
			if w.Code == NotPositive {
				t.Errorf("%s: a share of zero is warned about: %s", c.name, w)
			}
		}
	}
}

// TestSharesStayWithinBounds: Student's t knows no bounds, what is told of shares
// has them; the test itself is as it was.
func TestSharesStayWithinBounds(t *testing.T) {
	few := Arm{Name: "none", Values: []float64{0.03, 0.17, 0.145}}
	got := CompareBlocks(few, []Arm{{Name: "all", Values: []float64{1, 1, 1}}}, Options{Share: true, MarginPoints: 5, Better: LowerIsBetter})[0]
	if e := got.Result(); e.Bounds() != "[+69.9, +100]" || !(got.Effect.High > 1) {
		t.Errorf("%s, and by the test up to %g", e.Bounds(), got.Effect.High)
	}
	got = CompareBlocks(Arm{Name: "none", Values: []float64{0.3, 0.4, 0.5}}, []Arm{{Name: "fewer", Values: []float64{0.1, 0, 0.3}}}, Options{Share: true, MarginPoints: 5})[0]
	if e := got.Result(); e.CILow.Float() != -100 || !(100*got.Effect.Low/got.ControlSum.Mean < -100) {
		t.Errorf("%v %% at least, in points %s", e.CILow, e.Bounds())
	}
}

// TestShareMargins: without points the margin is of the control's share; what is
// no share stays told in percent.
func TestShareMargins(t *testing.T) {
	a := Arm{Name: "a", Values: []float64{0.50, 0.51, 0.49, 0.50, 0.52}}
	b := Arm{Name: "b", Values: []float64{0.51, 0.51, 0.50, 0.50, 0.52}}
	c := CompareBlocks(a, []Arm{b}, Options{Share: true, MarginPercent: 10})[0]
	if c.Verdict != Equivalent || !(math.Abs(c.Equivalence.High-0.0504) <= 1e-9) {
		t.Errorf("%s within ±%g", c.Verdict, c.Equivalence.High)
	}
	if c = CompareBlocks(a, []Arm{b}, Options{Share: true, MarginPoints: 0.1})[0]; c.Verdict != Inconclusive || !hasWarning(c, "points would go unnoticed") {
		t.Errorf("within a tenth of a point: %s, %v", c.Verdict, c.Warnings)
	}
	c = CompareBlocks(a, []Arm{b}, Options{MarginPercent: 10})[0]
	if e := c.Result(); e.InPoints() || !strings.HasSuffix(e.Text(), " %") || c.DetectablePoints().Known() {
		t.Errorf("no share is told as %s", e.Text())
	}
}

func hasWarning(c Comparison, text string) bool {
	for _, w := range c.Warnings {
		if strings.Contains(w.String(), text) {
			return true
		}
	}
	return false
}
