package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestStudentsTable checks tabulated quantiles of Student's t (Fisher & Yates 1938), and their tail
// probabilities.
func TestStudentsTable(t *testing.T) {
	for _, c := range []struct{ df, p, want float64 }{
		{1, 0.975, 12.706}, {1, 0.95, 6.314}, {2, 0.975, 4.303}, {3, 0.995, 5.841}, {4, 0.975, 2.776}, {5, 0.975, 2.571},
		{10, 0.9, 1.372}, {10, 0.975, 2.228}, {15, 0.995, 2.947}, {30, 0.975, 2.042}, {120, 0.975, 1.980}, {1e6, 0.975, 1.960},
	} {
		q := TQuantile(c.p, c.df)
		near(t, fmt.Sprintf("t(%g, %g)", c.p, c.df), q, c.want, 5.1e-4)
		near(t, "two-sided tail", twoSidedT(-q, c.df), 2*(1-c.p), 1e-9)
		near(t, "upper tail", UpperT(q, c.df), 1-c.p, 1e-9)
		near(t, "upper tail of what is below", UpperT(-q, c.df), c.p, 1e-9)
	}
	// With two degrees of freedom the tail has a closed form: 1/2 − t/(2√(2+t²)).
	for _, x := range []float64{-3, -0.5, 0, 0.1, 1, 4, 40} {
		near(t, "upper tail, df 2", UpperT(x, 2), 0.5-x/(2*math.Sqrt(2+x*x)), 1e-12)
	}
	if UpperT(math.Inf(1), 3) != 0 || UpperT(math.Inf(-1), 3) != 1 || twoSidedT(math.Inf(-1), 3) != 0 || !math.IsNaN(twoSidedT(math.NaN(), 3)) {
		t.Error("tails beyond all numbers")
	}
}

// TestCertainEstimates: without scatter an estimate is certain: p is 0 or 1, never unknown.
func TestCertainEstimates(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		p, t float64
	}{{[]float64{2, 2, 2}, 0, math.Inf(1)}, {[]float64{-2, -2}, 0, math.Inf(-1)}, {[]float64{0, 0, 0}, 1, 0}} {
		got := OneSample(c.x, 0.95)
		if got.P != c.p || got.T != c.t || got.Low != c.x[0] || got.High != c.x[0] || got.SE != 0 {
			t.Errorf("%v: %+v", c.x, got)
		}
	}
	for _, few := range [][]float64{nil, {3}} {
		if got := OneSample(few, 0.95); got.Known() || !math.IsNaN(got.P) || !math.IsNaN(got.T) {
			t.Errorf("%v: %+v", few, got)
		}
	}
	// The interval is the estimate ± t·s/√n: three values, s = 1, t = 4.3027.
	got := OneSample([]float64{1, 2, 3}, 0.95)
	near(t, "low", got.Low, 2-4.302653/math.Sqrt(3), 1e-6)
	near(t, "high", got.High, 2+4.302653/math.Sqrt(3), 1e-6)
	near(t, "half", got.Half(), 4.302653/math.Sqrt(3), 1e-6)
}

// TestIntervalBounds: Contains includes the bounds, Within excludes them.
func TestIntervalBounds(t *testing.T) {
	i := Interval{Estimate: 2, Low: 1, High: 3, Level: 0.9}
	for x, want := range map[float64]bool{0.999: false, 1: true, 2: true, 3: true, 3.001: false} {
		if i.Contains(x) != want {
			t.Errorf("[1, 3] contains %g: %t", x, !want)
		}
	}
	for _, c := range []struct {
		low, high float64
		want      bool
	}{{0.9, 3.1, true}, {1, 3.1, false}, {0.9, 3, false}, {2, 5, false}} {
		if i.Within(c.low, c.high) != c.want {
			t.Errorf("[1, 3] within %g and %g: %t", c.low, c.high, !c.want)
		}
	}
	double := i.Map(func(x float64) float64 { return 2 * x })
	if double != (Interval{Estimate: 4, Low: 2, High: 6, Level: 0.9}) {
		t.Errorf("%+v", double)
	}
	if half := (Interval{Low: math.NaN(), High: 1}); half.Known() || half.Contains(0) || half.Within(-9, 9) {
		t.Error("an interval without one of its limits is reported as known")
	}
}

// TestEquivalenceMatchesItsInterval: TOST's p equals α where the 1−2α interval touches the margin
// (Schuirmann 1987).
func TestEquivalenceMatchesItsInterval(t *testing.T) {
	for _, df := range []float64{3, 9, 40} {
		test := newTest(0.3, 0.7, df, 0.95)
		inner := newTest(0.3, 0.7, df, 0.9)
		e := TOST(test, -10, inner.High, 0.05)
		near(t, "p at the upper margin", e.P, 0.05, 1e-9)
		near(t, "its interval", e.Interval.High, inner.High, 1e-12)
		near(t, "p at the lower margin", TOST(test, inner.Low, 10, 0.05).P, 0.05, 1e-9)
		if wide := TOST(test, 2*inner.Low, 2*inner.High, 0.05); !(wide.P < 0.05) || !wide.Interval.Within(wide.Low, wide.High) {
			t.Errorf("df %g: wider margins: %+v", df, wide)
		}
		// The two one-sided tests are each other's mirror image.
		a, b := TOST(test, -1, 2, 0.05), TOST(newTest(-0.3, 0.7, df, 0.95), -2, 1, 0.05)
		near(t, "mirrored p", a.P, b.P, 1e-12)
	}
	certain := OneSample([]float64{1, 1, 1}, 0.95)
	for _, c := range []struct{ low, high, p float64 }{{0, 2, 0}, {1, 2, 1}, {0, 1, 1}, {2, 3, 1}} {
		if e := TOST(certain, c.low, c.high, 0.05); e.P != c.p {
			t.Errorf("exactly 1 within %g and %g: p %g", c.low, c.high, e.P)
		}
	}
	if !math.IsNaN(TOST(OneSample([]float64{1}, 0.95), -1, 1, 0.05).P) {
		t.Error("TOST of estimates without a standard error is not certain")
	}
	low, high := RatioMargins(25)
	near(t, "a quarter more", math.Exp(high), 1.25, 1e-12)
	near(t, "and the same the other way", math.Exp(low), 1/1.25, 1e-12)
}

// TestSummaryByR compares quantiles of type 7 with R's quantile(x), and the MAD with mad(x, constant = 1).
func TestSummaryByR(t *testing.T) {
	x := []float64{3, 1, 4, 1, 5, 9, 2, 6} // 1 1 2 3 4 5 6 9
	s := Summarise(x)
	for what, c := range map[string][2]float64{
		"n": {float64(s.N), 8}, "min": {s.Min, 1}, "max": {s.Max, 9}, "mean": {s.Mean, 3.875}, "sd": {s.SD, 2.7483761}, "median": {s.Median, 3.5},
		"mad": {s.MAD, 2}, "cv": {s.CV(), 2.7483761 / 3.875},
	} {
		near(t, what, c[0], c[1], 5e-8)
	}
	if x[0] != 3 {
		t.Error("Summarise sorted its argument")
	}
	sorted := []float64{10, 20, 40, 80, 160}
	for p, want := range map[float64]float64{0: 10, 0.1: 14, 0.25: 20, 0.5: 40, 0.9: 128, 0.99: 156.8, 1: 160} {
		near(t, fmt.Sprint("quantile ", p), Quantile(sorted, p), want, 1e-9)
	}
	if between := Quantile([]float64{math.Inf(1), math.Inf(1)}, 0.5); !math.IsInf(between, 1) {
		t.Errorf("between infinities: %g", between)
	}
	if !math.IsNaN(Quantile(nil, 0.5)) || !math.IsNaN(Median(nil)) || !math.IsNaN(Summarise(nil).MAD) || !math.IsNaN(Mean(nil)) {
		t.Error("statistics of an empty sample are not unknown")
	}
	near(t, "mean", Mean([]float64{1, 2, 6}), 3, 0)
	if cv := (Summary{SD: 1, Mean: -4}).CV(); cv != 0.25 {
		t.Errorf("coefficient of variation of negative values: %g", cv)
	}
}

// TestMedianDeviationByDefinition compares the MAD with its definition on random values.
func TestMedianDeviationByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	for range 300 {
		x := draw(1+r.IntN(12), func() float64 { return float64(r.IntN(9)) })
		med := Median(x)
		d := draw(len(x), func() float64 { return 0 })
		for i, v := range x {
			d[i] = math.Abs(v - med)
		}
		near(t, fmt.Sprintf("MAD of %v", x), Summarise(x).MAD, Median(d), 1e-12)
	}
}

// TestVarianceFarFromZero: the variance is accurate far from zero: that of 1e9 + {4, 7, 13, 16} is 30.
func TestVarianceFarFromZero(t *testing.T) {
	for _, base := range []float64{0, 1e9, -1e12} {
		mean, v := MeanVariance([]float64{base + 4, base + 7, base + 13, base + 16})
		near(t, "mean", mean, base+10, 1e-6)
		near(t, "variance", v, 30, 1e-3)
	}
	if _, v := MeanVariance([]float64{5}); !math.IsNaN(v) {
		t.Errorf("the variance of one value is %g", v)
	}
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// TestAutocorrelationByHand: x = 1 2 3 4 5 has deviations −2 −1 0 1 2, with a sum of squares of 10.
func TestAutocorrelationByHand(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5}
	for lag, want := range []float64{1, 0.4, -0.1, -0.4} {
		near(t, fmt.Sprint("lag ", lag), Autocorrelation(x, lag), want, 1e-12)
	}
	for name, got := range map[string]float64{"too far": Autocorrelation(x, 4), "backwards": Autocorrelation(x, -1), "constant": Autocorrelation([]float64{3, 3, 3, 3}, 1)} {
		if !math.IsNaN(got) {
			t.Errorf("%s: %g", name, got)
		}
	}
	for r, want := range map[float64]float64{0: 10, -0.5: 10, 0.5: 10.0 / 3, 0.99: 1, 1: 1} {
		near(t, fmt.Sprint("ten values at ", r), EffectiveSize(10, r), want, 1e-9)
	}
	near(t, "of an unknown likeness", EffectiveSize(10, math.NaN()), 10, 0)
}

// TestHolmByDefinition: step k passes if all before it did and p(k) ≤ α/(m−k+1); the adjusted p is the
// smallest such α, in any order of the values.
func TestHolmByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 1))
	rejects := func(p []float64, alpha float64) map[int]bool {
		order := make([]int, len(p))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return sign(p[i] - p[j]) })
		out := map[int]bool{}
		for k, i := range order {
			if p[i] > alpha/float64(len(p)-k) {
				break
			}
			out[i] = true
		}
		return out
	}
	for range 200 {
		p := draw(1+r.IntN(7), func() float64 { return math.Pow(r.Float64(), 3) })
		adjusted := Holm(p)
		for _, alpha := range []float64{0.01, 0.05, 0.2, 0.9} {
			want := rejects(p, alpha)
			for i := range p {
				if got := adjusted[i] <= alpha; got != want[i] && !(math.Abs(adjusted[i]-alpha) <= 1e-12) {
					t.Fatalf("%v at %g: adjusted %v, hypothesis %d rejected %t", p, alpha, adjusted, i, got)
				}
			}
		}
	}
	if one := Holm([]float64{0.03}); one[0] != 0.03 {
		t.Errorf("a single p-value: %v", one)
	}
}

// TestVerdictsAreInvariant: a verdict does not depend on the metric's unit, the order of blocks, or which
// arm is the control; better becomes worse if less is better.
func TestVerdictsAreInvariant(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 1))
	for n := range 15 {
		size := 4 + n%9
		a := draw(size, func() float64 { return 100 * math.Exp(0.05*r.NormFloat64()) })
		effect := 1 + 0.06*float64(n%5-2)
		b := draw(size, func() float64 { return 100 * effect * math.Exp(0.05*r.NormFloat64()) })
		opt := Options{MarginPercent: 4, Better: HigherIsBetter, NoPlan: true}
		for name, compare := range map[string]func(a, b []float64, opt Options) Comparison{
			"blocks": func(a, b []float64, opt Options) Comparison {
				return CompareBlocks(Arm{"a", a}, []Arm{{"b", b}}, opt)[0]
			},
			"samples": func(a, b []float64, opt Options) Comparison {
				return CompareSamples(Arm{"a", a}, []Arm{{"b", b}}, opt)[0]
			},
			"switchback": func(a, b []float64, opt Options) Comparison {
				return CompareSwitchback([]Arm{{"a", a}}, []Arm{{"b", b}}, opt)[0]
			},
		} {
			is := compare(a, b, opt)
			scaled := compare(times(a, 1e-9), times(b, 1e-9), opt)
			if scaled.Verdict != is.Verdict || !(math.Abs(scaled.P-is.P) <= 1e-6) || !(math.Abs(scaled.EffectPercent.Estimate-is.EffectPercent.Estimate) <= 1e-6) {
				t.Errorf("%s: in another unit %s p %g, was %s p %g", name, scaled.Verdict, scaled.P, is.Verdict, is.P)
			}
			ra, rb := slices.Clone(a), slices.Clone(b)
			slices.Reverse(ra)
			slices.Reverse(rb)
			if back := compare(ra, rb, opt); back.Verdict != is.Verdict || !(math.Abs(back.P-is.P) <= 1e-6) || !alike(back.Effect.Low, is.Effect.Low) {
				t.Errorf("%s: backwards %s p %g, was %s p %g", name, back.Verdict, back.P, is.Verdict, is.P)
			}
			opposite := map[Verdict]Verdict{Better: Worse, Worse: Better, Equivalent: Equivalent, Inconclusive: Inconclusive, Invalid: Invalid}[is.Verdict]
			less := opt
			less.Better = LowerIsBetter
			if got := compare(a, b, less).Verdict; got != opposite {
				t.Errorf("%s: with lower-is-better it is %s, with higher-is-better %s", name, got, is.Verdict)
			}
			swapped := compare(b, a, opt)
			if swapped.Verdict != opposite || !alike(swapped.Effect.Low, -is.Effect.High) || !(math.Abs(swapped.Effect.Estimate+is.Effect.Estimate) <= 1e-9) {
				t.Errorf("%s: with swapped arms %s %+v, was %s %+v", name, swapped.Verdict, swapped.Effect.Interval, is.Verdict, is.Effect.Interval)
			}
			if ratio := (1 + swapped.EffectPercent.Estimate/100) * (1 + is.EffectPercent.Estimate/100); !(math.Abs(ratio-1) <= 1e-9) {
				t.Errorf("%s: the effects of both directions multiply to %g", name, ratio)
			}
		}
	}
}

// alike reports whether two limits are equal, or both unknown.
func alike(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9 || math.IsNaN(a) && math.IsNaN(b)
}

func times(x []float64, by float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] *= by
	}
	return out
}

// TestDriftIsTold: a drift is reported in percent of the control if that is not zero, in percentage points
// for shares, otherwise in the metric's unit.
func TestDriftIsTold(t *testing.T) {
	drifts := func(control, variant []float64, opt Options) string {
		c := CompareSamples(Arm{"a", control}, []Arm{{"b", variant}}, opt)[0]
		for _, w := range c.Warnings {
			if w.Code == Drift {
				return w.Message
			}
		}
		return ""
	}
	steady := []float64{10, 11, 10, 11, 10, 11, 10, 11, 10, 11}
	grows := []float64{10, 12, 14, 16, 18, 20, 22, 24, 26, 28}
	for _, c := range []struct {
		name    string
		control []float64
		variant []float64
		opt     Options
		want    string
	}{
		{"in percent", steady, grows, Options{}, "b drifts by +146 % from its first to its last fifth (of no slope p < 0.001)"},
		{"the control too", grows, steady, Options{}, "a drifts by +146 % "},
		{"of nothing", make([]float64, 10), ramp(0, 10), Options{}, "b drifts by +8 from "},
		{"of shares", times(steady, 0.01), times(grows, 0.01), Options{Share: true}, "b drifts by +16.0 points from "},
		{"steady", steady, steady, Options{}, ""},
		{"too short", steady[:4], grows[:4], Options{}, ""},
	} {
		if got := drifts(c.control, c.variant, c.opt); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLikenessIsTold: autocorrelation is reported, with the effective sample size.
func TestLikenessIsTold(t *testing.T) {
	x := make([]float64, 60)
	for i := range x {
		x[i] = 100 + 3*math.Sin(float64(i)/3) // no trend, but correlated neighbours
	}
	c := CompareSamples(Arm{"a", x}, []Arm{{"b", draw(60, func() float64 { return 100 })}}, Options{})[0]
	if !has(c, Correlated) || has(c, Drift) || !hasWarning(c, "so 60 values are worth about 2") || !has(c, NoVariation) {
		t.Errorf("%v", c.Warnings)
	}
	few := CompareSamples(Arm{"a", x[:9]}, []Arm{{"b", x[:9]}}, Options{})[0]
	if has(few, Correlated) {
		t.Errorf("nine values: %v", few.Warnings)
	}
}

// TestWarningsOfSamples: the warnings of a comparison of samples.
func TestWarningsOfSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 1))
	quiet, loud := draw(12, func() float64 { return 100 + r.NormFloat64() }), draw(12, func() float64 { return 100 + 20*r.NormFloat64() })
	c := CompareSamples(Arm{"quiet", quiet}, []Arm{{"loud", loud}}, Options{MarginPercent: 1})[0]
	if !has(c, UnequalSpread) || !has(c, Underpowered) || !hasWarning(c, "the margin is 1 %; measure about ") || !hasWarning(c, " values a side, in alternation") {
		t.Errorf("%v", c.Warnings)
	}
	if alike := CompareSamples(Arm{"a", quiet}, []Arm{{"b", times(quiet, 1.5)}}, Options{})[0]; has(alike, UnequalSpread) || has(alike, Underpowered) {
		t.Errorf("%v", alike.Warnings)
	}
	wild := slices.Clone(quiet)
	wild[3] = 900
	if c := CompareSamples(Arm{"a", wild}, []Arm{{"b", quiet}}, Options{})[0]; !hasWarning(c, "a: far from the rest: value 4; look") {
		t.Errorf("%v", c.Warnings)
	}
	zeros := CompareSamples(Arm{"a", []float64{3, 4, 5, 4, 0}}, []Arm{{"b", []float64{30, 41, 52, 31, 40}}}, Options{MarginPercent: 1})[0]
	if zeros.Scale != Difference || !has(zeros, NotPositive) || zeros.Method != "Welch's t on the values" || !hasWarning(zeros, "measure more often, in alternation") {
		t.Errorf("%s, %s: %v", zeros.Scale, zeros.Method, zeros.Warnings)
	}
	if one := CompareSamples(Arm{"a", quiet[:1]}, []Arm{{"b", loud}}, Options{})[0]; !has(one, TooFew) || len(one.Warnings) != 1 || one.Verdict != Invalid || one.N != 1 {
		t.Errorf("%s: %v", one.Verdict, one.Warnings)
	}
	if odd := CompareSamples(Arm{"a", append([]float64{math.NaN(), math.Inf(1)}, quiet...)}, []Arm{{"b", loud}}, Options{})[0]; odd.NControl != 12 || odd.NVariant != 12 {
		t.Errorf("values that are not numbers were kept: %d and %d", odd.NControl, odd.NVariant)
	}
}

// TestWarningsOfBlocks: the warnings of a comparison in blocks.
func TestWarningsOfBlocks(t *testing.T) {
	compare := func(n int, opt Options, change func(a, b []float64)) Comparison {
		r := rand.New(rand.NewPCG(47, 1))
		a := draw(n, func() float64 { return 100 + 3*r.NormFloat64() })
		b := draw(n, func() float64 { return 100 + 3*r.NormFloat64() })
		change(a, b)
		return CompareBlocks(Arm{"a", a}, []Arm{{"b", b}}, opt)[0]
	}
	nothing := func(a, b []float64) {}
	for n, want := range map[int][]Code{1: {TooFew}, 4: {FewBlocks}, 5: nil} {
		var got []Code
		for _, w := range compare(n, Options{}, nothing).Warnings {
			got = append(got, w.Code)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d blocks: %v, want %v", n, got, want)
		}
	}
	if c := compare(8, Options{}, func(a, b []float64) { copy(b, times(a, 2)) }); !hasWarning(c, "all 8 block-wise effects are equal") || c.SD > 1e-12 {
		t.Errorf("%g: %v", c.SD, c.Warnings)
	}
	if c := compare(12, Options{}, func(a, b []float64) { b[6] = 800 }); !hasWarning(c, "far from the rest: block 7; look at these trials") {
		t.Errorf("%v", c.Warnings)
	}
	c := compare(6, Options{MarginPercent: 0.5}, nothing)
	blocks := BlocksFor(c.SD, math.Log1p(0.005), 0.05, 0.8, planLimit)
	if !hasWarning(c, fmt.Sprintf("the margin is 0.5 %%; run about %d blocks", blocks)) || blocks < 50 {
		t.Errorf("%d blocks: %v", blocks, c.Warnings)
	}
	if c := compare(6, Options{MarginPercent: 1e-6}, nothing); !hasWarning(c, "run more than 10000 blocks") {
		t.Errorf("%v", c.Warnings)
	}
	if c := compare(6, Options{MarginPercent: 50}, nothing); has(c, Underpowered) {
		t.Errorf("%v", c.Warnings)
	}
	for v, want := range map[float64]string{0.0213: "0.021", 3: "3", 12.34: "12", 99.4: "99", 99.5: "100", 99.7: "100", 1234.5: "1234", -250.2: "-250"} {
		if got := twoDigits(v); got != want {
			t.Errorf("%g is shown as %q, want %q", v, got, want)
		}
	}
}

// TestAmongGroupsByOthers: an F test of two groups equals the square of Student's pooled t, and on R's
// PlantGrowth gives the result of anova(lm(weight ~ group)).
func TestAmongGroupsByOthers(t *testing.T) {
	g := AmongGroups([][]float64{
		{4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14},
		{4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69},
		{6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26},
	})
	near(t, "F", g.F, 4.8461, 5e-5)
	near(t, "p", g.P, 0.01591, 5e-6)
	r := rand.New(rand.NewPCG(48, 1))
	for n := 2; n < 9; n++ {
		a, b := normal(r, n, 0), normal(r, n, 1) // for equal sizes Welch's t equals the pooled one, except for the degrees of freedom
		w := Welch(a, b, 0.95)
		g := AmongGroups([][]float64{a, b})
		near(t, "t²", g.F, w.T*w.T, 1e-9*g.F)
		near(t, "p", g.P, twoSidedT(w.T, g.DFWithin), 1e-9)
	}
	// Groups of different sizes, by hand: means 1, 2.5, 6 of 2, 4 and 1 values, grand mean 18/7.
	g = AmongGroups([][]float64{{0, 2}, {1, 2, 3, 4}, {6}, {math.NaN()}})
	total := 18.0 / 7
	square := func(v float64) float64 { return v * v }
	between := (2*square(1-total) + 4*square(2.5-total) + square(6-total)) / 2
	near(t, "F by hand", g.F, between/((2+5)/4.0), 1e-12)
	if g.DFBetween != 2 || g.DFWithin != 4 {
		t.Errorf("degrees %g and %g", g.DFBetween, g.DFWithin)
	}
}

// TestTrimmedMeanByHand: of ten values a fifth off either end leaves 3…8; winsorized they are
// 3 3 3 4 5 6 7 8 8 8, with a variance of 4.7222.
func TestTrimmedMeanByHand(t *testing.T) {
	x := []float64{10, 2, 3, 4, 5, 6, 7, 8, 9, -50}
	mean, se := TrimmedMean(x, 0.2) // −50 2 | 3 4 5 6 7 8 | 9 10
	near(t, "mean", mean, 5.5, 1e-12)
	near(t, "error", se, math.Sqrt(42.5*1/(6*5)), 1e-12) // Σ(w−w̄)² = 42.5
	if x[0] != 10 {
		t.Error("TrimmedMean sorted its argument")
	}
	plain, se := TrimmedMean([]float64{1, 2, 3, 4}, 0)
	near(t, "untrimmed", plain, 2.5, 0)
	near(t, "its error", se, math.Sqrt(5.0/3/4), 1e-12)
	if _, se := TrimmedMean([]float64{4}, 0.2); !math.IsNaN(se) {
		t.Errorf("the error of one value is %g", se)
	}
}

// TestOutliersOnEitherSide: Iglewicz & Hoaglin's modified z, with a limit that depends on the sample size;
// either side counts, and fewer than four values have no outlier.
func TestOutliersOnEitherSide(t *testing.T) {
	x := ramp(0, 21) // median 10, MAD 5: one unit of z is 7.41
	limit := OutlierLimit(len(x))
	at := 10 + limit*5/0.6745
	for _, c := range []struct {
		at   float64
		want bool
	}{{at * 1.02, true}, {at * 0.9, false}, {20 - at*1.02, true}, {20 - at*0.9, false}} {
		y := slices.Clone(x)
		y[20] = c.at
		if c.at < 10 { // keep the median: one more below, one more above
			y[0] = 25
		}
		if got := slices.Contains(FindOutliers(y), 20); got != c.want {
			t.Errorf("%g beside 0 to 19, limit %.2f: flagged %t", c.at, limit, got)
		}
	}
	if got := FindOutliers([]float64{1, 1, 900}); got != nil {
		t.Errorf("outliers among three values: %v", got)
	}
}

// TestPooledAndCorrected: samples of unequal sizes pool their variances by degrees of freedom; Holm's
// correction covers the comparisons made together, and a single p is not changed.
func TestPooledAndCorrected(t *testing.T) {
	a, b, c := Arm{"a", []float64{-3, -1, 1, 3}}, Arm{"b", []float64{10, 12}}, Arm{"c", []float64{-2, 0, 2, 0.5, 1, -1}}
	cs := CompareSamples(a, []Arm{b, c}, Options{})
	near(t, "pooled deviation", cs[0].SD, math.Sqrt((3*20.0/3+1*2)/4), 1e-12) // variances 20/3 and 2
	holm := Holm([]float64{cs[0].P, cs[1].P})
	for i := range cs {
		if cs[i].PHolm != holm[i] || i == 0 && cs[i].PHolm <= cs[i].P {
			t.Errorf("%s: p %g, corrected %g, want %g", cs[i].Variant, cs[i].P, cs[i].PHolm, holm[i])
		}
	}
	if alone := CompareSamples(a, []Arm{b}, Options{})[0]; alone.PHolm != alone.P || alone.P != cs[0].P {
		t.Errorf("a single comparison has p %g, corrected %g", alone.P, alone.PHolm)
	}
	for _, m := range []struct {
		arms [2][]float64
		want string
	}{{[2][]float64{{1, 2, 3}, {4, 5, 6}}, "Student's t on block-wise log ratios"}, {[2][]float64{{0, 2, 3}, {4, 5, 6}}, "Student's t on block-wise differences"}} {
		if got := CompareBlocks(Arm{"a", m.arms[0]}, []Arm{{"b", m.arms[1]}}, Options{})[0].Method; got != m.want {
			t.Errorf("%q, want %q", got, m.want)
		}
	}
	// Two values per arm are the fewest that can show a difference.
	if two := CompareSamples(Arm{"a", []float64{1, 2}}, []Arm{{"b", []float64{3, 5}}}, Options{})[0]; !(two.Detectable > 0) {
		t.Errorf("two values a side detect %g", two.Detectable)
	}
}
