package study

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMomentsByDefinition: while all values have the same weight, mean, variance and lag-1
// autocovariance match their definitions.
func TestMomentsByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	for _, fade := range []float64{0, 0.5, 0.9} {
		x := ar1(r, 39, 0.3, fade, 0.01)
		var m moments
		mean, ss := 0.0, 0.0
		for _, v := range x {
			m.add(v, memory)
			mean += v / float64(len(x))
		}
		for _, v := range x {
			ss += (v - mean) * (v - mean)
		}
		if m.n != 39 || !(math.Abs(m.mean-mean) <= 1e-9) || !(math.Abs(m.variance-ss/float64(len(x))) <= 1e-9) {
			t.Errorf("fade %g: %+v; mean %g, variance %g", fade, m, mean, ss/float64(len(x)))
		}
	}
	// With a long memory, old values fade, whatever they were.
	var m moments
	for i := range 400 {
		v := 5.0
		if i < 200 {
			v = 1e6
		}
		m.add(v, memory)
	}
	if m.n != memory || m.mean < 5 || m.mean > 1e4 {
		t.Errorf("an old level still dominates: %+v", m)
	}
}

// TestErrorOfLikeValues: autocorrelated values count as fewer, constant ones give no error, and a
// single value counts as one.
func TestErrorOfLikeValues(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	of := func(fade float64) moments {
		var m moments
		for _, v := range ar1(r, 4000, 0.1, fade, 0) {
			m.add(math.Log(v), 4000)
		}
		return m
	}
	apart, alike := of(0), of(0.8)
	if got, want := apart.error(20), apart.variance/19; !(math.Abs(got/want-1) <= 0.1) {
		t.Errorf("independent values: %g, want %g", got, want)
	}
	if got, want := alike.error(20), alike.variance/(20*0.2/1.8-1); !(math.Abs(got/want-1) <= 0.25) {
		t.Errorf("values with an autocorrelation of 0.8: %g, want %g", got, want)
	}
	if got := apart.error(1); got != apart.variance {
		t.Errorf("one value: %g, want %g", got, apart.variance)
	}
	var same moments
	for range 10 {
		same.add(3, memory)
	}
	if same.error(10) != 0 {
		t.Errorf("values without scatter: %g", same.error(10))
	}
	almost := moments{n: 40, variance: 1, lagged: 0.99}
	if got := almost.error(1000); !(math.Abs(got-1/(1000*(1-mostAlike)/(1+mostAlike)-1)) <= 1e-12) {
		t.Errorf("an autocorrelation beyond what so few values can show: %g", got)
	}
}

// watching returns a guardrail that has seen the control at a level with a scatter.
func watching(g Guardrail, level, scatter float64) (*Watch, func(float64) float64) {
	r := rand.New(rand.NewPCG(23, 1))
	draw := func(level float64) float64 { return level * math.Exp(scatter*r.NormFloat64()) }
	w := &Watch{Guardrail: g}
	for range 40 {
		w.Control(draw(level))
	}
	w.Begin("it")
	return w, draw
}

// tripsAfter returns the check at which w trips, 0 if it does not trip within checks.
func tripsAfter(w *Watch, checks int, value func() float64) (int, Trip) {
	for i := 1; i <= checks; i++ {
		if trip, trips := w.Check(value(), float64(10*i)); trips {
			return i, trip
		}
	}
	return 0, Trip{}
}

// TestHarmIsCertain: exceeding the limit does not trip while the scatter explains it; a trip
// reports the value, the limit and the control's level.
func TestHarmIsCertain(t *testing.T) {
	g := Guardrail{Name: "p95", HarmPercent: 20, Unit: LogP95}
	quiet, draw := watching(g, 1e8, 0.001)
	n, trip := tripsAfter(quiet, 20, func() float64 { return draw(1.25e8) })
	if n != leastSamples || !(math.Abs(trip.Limit/1.2e8-1) <= 0.01) || !(math.Abs(trip.Value/1.25e8-1) <= 0.01) || trip.Guardrail != "p95" {
		t.Errorf("a quarter more of a metric with little scatter trips at check %d: %+v", n, trip)
	}
	if !strings.Contains(trip.Text, "p95 was 125 ms, beyond 120 ms (20.0 % above the control's 100 ms)") {
		t.Errorf("%q", trip.Text)
	}
	if w := quiet.Nearest; w.Share < 1 || w.At != 10 || w.Unit != LogP95 || !(math.Abs(w.Limit/1.2e8-1) <= 0.01) || !(math.Abs(w.Value/1.25e8-1) <= 0.01) {
		t.Errorf("nearest %+v", w)
	}
	loud, draw := watching(g, 1e8, 0.5)
	if n, _ := tripsAfter(loud, 30, func() float64 { return draw(1.3e8) }); n != 0 {
		t.Errorf("a third more of a metric with a scatter of a half trips at check %d", n)
	}
	within, draw := watching(g, 1e8, 0.001)
	if n, _ := tripsAfter(within, 30, func() float64 { return draw(1.19e8) }); n != 0 || within.Nearest.Share < 0.9 || within.Nearest.Share >= 1 {
		t.Errorf("19 %% above the control, with a limit of 20, trips at check %d: %+v", n, within.Nearest)
	}
	// A metric that does not exist has no logarithm, and is not harm.
	nothing, _ := watching(g, 1e8, 0.001)
	if n, _ := tripsAfter(nothing, 10, func() float64 { return 0 }); n != 0 || nothing.treated.n != 0 {
		t.Errorf("a value of zero trips at check %d", n)
	}
	young := &Watch{Guardrail: g}
	for range leastSamples - 1 {
		young.Control(1e8)
	}
	if n, _ := tripsAfter(young, 10, func() float64 { return 9e9 }); n != 0 || young.Nearest != (Nearest{}) {
		t.Errorf("with two values of the control it trips at check %d: %+v", n, young.Nearest)
	}
	young.Control(1e8)
	if n, _ := tripsAfter(young, 10, func() float64 { return 9e9 }); n != leastSamples {
		t.Errorf("with three values of the control it trips at check %d", n)
	}
}

// TestHarmOverShortWindows: harm that one short window cannot show trips over several windows.
func TestHarmOverShortWindows(t *testing.T) {
	w, draw := watching(Guardrail{Name: "rtt", HarmPercent: 10}, 100, 0.03)
	windows := 0
	for range 20 {
		w.Begin("it")
		windows++
		if n, _ := tripsAfter(w, 2, func() float64 { return draw(140) }); n > 0 {
			break
		}
	}
	if windows < 2 || windows > 6 {
		t.Errorf("harm of 40 %% in windows of two checks trips in window %d, want 2 to 6", windows)
	}
}

// TestChecksInARow: an absolute limit requires consecutive checks, counted anew in each window;
// a value exactly at the limit does not exceed it.
func TestChecksInARow(t *testing.T) {
	w := &Watch{Guardrail: Guardrail{Name: "load", Limit: 4, Checks: 3, Unit: "waiting"}}
	values := []float64{5, 5, 4, 5, math.NaN(), 5, 5}
	i := 0
	if n, trip := tripsAfter(w, len(values), func() float64 { i++; return values[i-1] }); n != 7 || trip.Text != "load was 5.00 waiting, beyond 4.00 waiting" {
		t.Errorf("trips at check %d: %q", n, trip.Text)
	}
	w = &Watch{Guardrail: w.Guardrail}
	for range 3 {
		w.Begin("it")
		if n, _ := tripsAfter(w, 2, func() float64 { return 9 }); n != 0 {
			t.Error("checks of two windows are counted as consecutive")
		}
	}
	one := &Watch{Guardrail: Guardrail{Name: "load", Limit: 4}}
	if n, _ := tripsAfter(one, 1, func() float64 { return 4.1 }); n != 1 {
		t.Error("a guardrail without a number of checks does not trip at the first")
	}
	if one.Nearest.Share != 4.1/4 || one.Nearest.At != 10 || one.Nearest.Value != 4.1 || one.Nearest.Limit != 4 {
		t.Errorf("%+v", one.Nearest)
	}
	one.Begin("it")
	one.Check(1, 3)
	one.Check(2, 4)
	one.Check(1.5, 5)
	if one.Nearest.Share != 0.5 || one.Nearest.At != 4 {
		t.Errorf("the nearest of a window: %+v", one.Nearest)
	}
}

// TestGuardrailsInWords: values are shown in the metric's unit, without added offsets, and as rates
// rather than their inverse.
func TestGuardrailsInWords(t *testing.T) {
	for _, c := range []struct {
		g    Guardrail
		v    float64
		want string
	}{
		{Guardrail{Unit: "%"}, 0.123, "12.3 %"}, {Guardrail{Unit: "s"}, 0.25, "250 ms"}, {Guardrail{Unit: "waiting"}, 3, "3.00 waiting"}, {Guardrail{}, 12345, "12,345"},
		{Guardrail{Unit: LogRate, Inverse: true}, 0.004, "250 requests/s"}, {Guardrail{Unit: "%", Floor: 0.01}, 0.06, "5.0 %"}, {Guardrail{Unit: "%", Floor: 0.01}, 0.005, "0.00 %"}, {Guardrail{Unit: LogP95}, 3e6, "3.00 ms"},
	} {
		if got := c.g.in(c.v); got != c.want {
			t.Errorf("%+v: %g is shown as %q, want %q", c.g, c.v, got, c.want)
		}
	}
	inverse, draw := watching(Guardrail{Name: "requests", HarmPercent: 20, Unit: LogRate, Inverse: true}, 500, 0.001)
	_, trip := tripsAfter(inverse, 10, func() float64 { return draw(250) })
	if !strings.Contains(trip.Text, "requests was 249 requests/s, beyond 417 requests/s (16.7 % below the control's 500 requests/s)") {
		t.Errorf("%q", trip.Text)
	}
	if n := inverse.Nearest; !(math.Abs(n.Value-250) <= 2) || !(math.Abs(n.Limit-416) <= 3) {
		t.Errorf("%+v", n)
	}
}

// TestNearestIsKept: whatever a guardrail saw can be encoded as JSON.
func TestNearestIsKept(t *testing.T) {
	for _, g := range []Guardrail{{Name: "some", Limit: 3}, {Name: "more", HarmPercent: 10}, {Name: "rate", HarmPercent: 10, Inverse: true}} {
		w, _ := watching(g, 5, 0)
		for i, v := range []float64{0, 1, math.NaN(), 2, math.Inf(1), 1e300} {
			w.Check(v, float64(i))
			if _, err := json.Marshal(w.Nearest); err != nil {
				t.Errorf("%s of %g: %v", g.Name, v, err)
			}
		}
	}
}

// TestLeastPairsOfManyTreatments: more treatments need more pairs for a decision, and no fewer
// pairs reach Bonferroni's level.
func TestLeastPairsOfManyTreatments(t *testing.T) {
	for n := 1; n <= 12; n++ {
		p := WindowPlan{Treatments: slices.Repeat([]string{"x"}, n)}
		pairs := p.LeastPairs()
		reached := func(pairs int) bool { return 2/math.Pow(2, float64(pairs)) <= 0.05/float64(n) }
		if !reached(pairs) || reached(pairs-1) && pairs > 6 {
			t.Errorf("%d treatments: %d pairs", n, pairs)
		}
	}
	if l := (WindowPlan{Treatments: []string{"a"}}).LooksOf(6, 3); l != nil {
		t.Errorf("six pairs allow only the final look, got %+v", l)
	}
	if l := (WindowPlan{Treatments: []string{"a"}}).LooksOf(12, 3); l == nil || l.PrecisionPercent != 3 {
		t.Errorf("%+v", l)
	}
}

// TestOrdersAreDrawn: within a group treatments and shams come in every order, and within a pair
// either half comes first, about as often as by chance.
func TestOrdersAreDrawn(t *testing.T) {
	p := WindowPlan{Treatments: []string{"a", "b", "c"}, Pairs: 300}
	slots := p.Schedule(5)
	places, firsts := map[string][4]int{}, map[string]int{}
	for i := 0; i < len(slots); i += 2 {
		of := places[slots[i].Of]
		of[i/2%4]++
		places[slots[i].Of] = of
		if slots[i].Arm == Control {
			firsts[slots[i].Of]++
		}
	}
	for of, at := range places {
		for place, n := range at {
			if n < 45 || n > 105 { // 75 ± 4 standard errors
				t.Errorf("%s is at position %d of its group in %d of 300 groups", of, place+1, n)
			}
		}
		if n := firsts[of]; n < 115 || n > 185 {
			t.Errorf("the control comes first in %d of 300 pairs of %s", n, of)
		}
	}
	one, two := (WindowPlan{Treatments: []string{"a"}}).LooksIn(24), (WindowPlan{Treatments: []string{"a", "b"}}).LooksIn(24)
	if two[0] <= one[0] {
		t.Errorf("the first look is after %d pairs with two treatments, after %d with one", two[0], one[0])
	}
}
