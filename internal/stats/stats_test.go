package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.10g, want %.10g ± %g", what, got, want, tol)
	}
}

func TestHolm(t *testing.T) {
	p := []float64{0.01, math.NaN(), 0.04, 0.03, 0.005}
	holm := Holm(p)
	for i, want := range []float64{0.03, math.NaN(), 0.06, 0.06, 0.02} {
		if math.IsNaN(want) != math.IsNaN(holm[i]) || math.Abs(holm[i]-want) > 1e-12 {
			t.Errorf("Holm[%d] = %g, want %g", i, holm[i], want)
		}
	}
	// The worked example of Benjamini & Hochberg 1995, §4: Holm, like Bonferroni, rejects three at 0.05.
	p = []float64{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719, .6528, .7590, 1}
	count := func(p []float64) (n int) {
		for _, v := range p {
			if v <= 0.05 {
				n++
			}
		}
		return n
	}
	if n := count(Holm(p)); n != 3 {
		t.Errorf("Holm rejects %d, want 3", n)
	}
}

// TestDetectableEffect: five values per arm detect 2.02 standard deviations at 80 % power.
func TestDetectableEffect(t *testing.T) {
	near(t, "n=5", TwoSampleDetectable(1, 5, 5, 0.05, 0.8), 2.02444, 5e-5)                 // R, pwr.t.test
	near(t, "d=0.5 needs 64 per arm", float64(SamplesFor(1, 0.5, 0.05, 0.8, 1000)), 64, 0) // Cohen 1988, table 2.4.1
	near(t, "paired d=0.5 needs 34", float64(BlocksFor(1, 0.5, 0.05, 0.8, 1000)), 34, 0)
	if n := BlocksFor(1, 0.001, 0.05, 0.8, 1000); n != 0 {
		t.Errorf("out of reach: %d", n)
	}
	for _, df := range []float64{1, 2, 4, 30, 1000} {
		for _, alpha := range []float64{0.05, 0.01} {
			d := DetectableEffect(df, alpha, 0.8)
			near(t, "power at it", simulatePower(d, df, alpha), 0.8, 0.012)
		}
	}
}

func simulatePower(d, df, alpha float64) float64 {
	r := rand.New(rand.NewPCG(9, uint64(df)))
	crit, hits := TQuantile(1-alpha/2, df), 0
	const reps = 20_000
	for range reps {
		chi := 0.0
		for range int(df) {
			z := r.NormFloat64()
			chi += z * z
		}
		if math.Abs((r.NormFloat64()+d)/math.Sqrt(chi/df)) > crit {
			hits++
		}
	}
	return float64(hits) / reps
}

// TestSleepData checks the paired and the Welch analysis of Student's sleep data (1908) as printed in
// textbooks.
func TestSleepData(t *testing.T) {
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	w := Welch(a, b, 0.95)
	near(t, "Welch t", w.T, 1.8608, 5e-5)
	near(t, "Welch df", w.DF, 17.776, 5e-4)
	near(t, "Welch p", w.P, 0.07939, 5e-6)
	near(t, "Welch low", w.Low, -0.2054832, 5e-7)
	near(t, "Welch high", w.High, 3.3654832, 5e-7)
	p := OneSample(subtract(b, a), 0.95)
	near(t, "paired t", p.T, 4.0621, 5e-5)
	near(t, "paired p", p.P, 0.002833, 5e-7)
	c := CompareBlocks(Arm{"a", a}, []Arm{{"b", b}}, Options{Better: HigherIsBetter})[0]
	if c.Scale != Difference || c.Verdict != Better {
		t.Errorf("scale %s, verdict %s: values that have no logarithm must be compared by difference", c.Scale, c.Verdict)
	}
}

func TestCompareBlocks(t *testing.T) {
	control := Arm{"none", []float64{100, 110, 90, 105, 95, math.NaN()}}
	scale := func(f float64, jitter ...float64) []float64 {
		out := make([]float64, len(jitter))
		for i := range out {
			out[i] = control.Values[i] * f * (1 + jitter[i])
		}
		return out
	}
	same := Arm{"same", scale(1, .001, -.001, .0005, -.0005, 0, 0)}
	slow := Arm{"slow", scale(1.7, .01, -.01, .005, -.005, 0, 0)}
	noisy := Arm{"noisy", scale(1, .2, -.2, .1, -.15, .05, 0)}
	cs := CompareBlocks(control, []Arm{same, slow, noisy}, Options{MarginPercent: 1, Better: LowerIsBetter})
	for i, want := range []Verdict{Equivalent, Worse, Inconclusive} {
		if cs[i].Verdict != want {
			t.Errorf("%s: %s, want %s", cs[i].Variant, cs[i].Verdict, want)
		}
		if cs[i].N != 5 || !has(cs[i], MissingBlocks) {
			t.Errorf("%s: n = %d, warnings %v: the block without a control must be left out with a warning", cs[i].Variant, cs[i].N, cs[i].Warnings)
		}
	}
	near(t, "effect", cs[1].EffectPercent.Estimate, 70, 0.3)
	if !has(cs[2], Underpowered) || has(cs[0], Underpowered) {
		t.Error("only the noisy variant must be reported as underpowered")
	}
	one := CompareBlocks(Arm{"a", []float64{1}}, []Arm{{"b", []float64{2}}}, Options{})[0]
	if one.Verdict != Invalid || !has(one, TooFew) {
		t.Errorf("one block: %s %v", one.Verdict, one.Warnings)
	}
}

func TestJudgeDirection(t *testing.T) {
	for _, c := range []struct {
		effect, p, q float64
		dir          Direction
		want         Verdict
	}{
		{1, .01, math.NaN(), HigherIsBetter, Better},
		{1, .01, math.NaN(), LowerIsBetter, Worse},
		{-1, .01, math.NaN(), LowerIsBetter, Better},
		{-1, .01, .5, HigherIsBetter, Worse},
		{-1, .2, .5, HigherIsBetter, Inconclusive},
		{-1, .01, .01, HigherIsBetter, Equivalent},
		{0, 0, math.NaN(), HigherIsBetter, Inconclusive},
		{0, math.NaN(), math.NaN(), HigherIsBetter, Invalid},
	} {
		if got := Judge(c.effect, c.p, c.q, 0.05, c.dir); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func has(c Comparison, code Code) bool {
	return slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Code == code && w.Action != "" })
}

func ramp(from float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = from + float64(i)
	}
	return x
}

func normal(r *rand.Rand, n int, mean float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + r.NormFloat64()
	}
	return x
}

func draw(n int, f func() float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f()
	}
	return x
}
