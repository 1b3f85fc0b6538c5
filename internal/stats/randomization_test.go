package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pOfOrders is the two-sided p of θ by walking all orders of the pairs, as the
// test is defined.
func pOfOrders(d []float64, theta float64) float64 {
	observed, upper, lower, total := 0.0, 0, 0, 1<<len(d)
	for _, v := range d {
		observed += v - theta
	}
	for order := range total {
		sum := 0.0
		for i, v := range d {
			if order>>i&1 == 1 {
				sum -= v - theta
			} else {
				sum += v - theta
			}
		}
		if sum >= observed-1e-9 {
			upper++
		}
		if sum <= observed+1e-9 {
			lower++
		}
	}
	return min(1, 2*float64(min(upper, lower))/float64(total))
}

func TestRandomizeIsTheTestOverAllOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 10; n++ {
		d := make([]float64, n)
		for i := range d {
			d[i] = r.NormFloat64() + 0.3
		}
		d[0] = 0 // ties are counted as extreme
		test := Randomise(d, 999, 1)
		if !test.Exact {
			t.Fatalf("%d pairs are not exact", n)
		}
		for _, theta := range []float64{-1, 0, 0.2, 0.7, 3} {
			if got, want := test.P(theta), pOfOrders(d, theta); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("n = %d, θ = %g: p = %g, all orders give %g", n, theta, got, want)
			}
		}
	}
}

// The interval holds the effects that are not rejected, and no other.
func TestRandomizeInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{6, 9, 12, 20, 60} {
		d := make([]float64, n)
		for i := range d {
			d[i] = 5 + r.NormFloat64()
		}
		test := Randomise(d, 9999, 1)
		i := test.Interval(0.95)
		width := i.High - i.Low
		for _, c := range []struct {
			theta    float64
			rejected bool
		}{{i.Low - width/1e6, true}, {i.High + width/1e6, true}, {i.Low + width/1e6, false}, {i.High - width/1e6, false}, {test.Estimate, false}} {
			if p := test.P(c.theta); p <= 0.05 != c.rejected {
				t.Errorf("n = %d, θ = %g, interval [%g, %g]: p = %g", n, c.theta, i.Low, i.High, p)
			}
		}
	}
}

func TestFewPairsCannotDecide(t *testing.T) {
	five, six := Randomise([]float64{1, 1.1, 0.9, 1, 1.2}, 999, 1), Randomise([]float64{1, 1.1, 0.9, 1, 1.2, 1}, 999, 1)
	if p := five.P(0); p <= 0.05 || five.Interval(0.95).Known() {
		t.Errorf("five pairs: p = %g, %+v", p, five.Interval(0.95))
	}
	if p := six.P(0); p != 2.0/64 || !six.Interval(0.95).Known() {
		t.Errorf("six pairs: p = %g, %+v", p, six.Interval(0.95))
	}
	if none := Randomise(nil, 999, 1); !math.IsNaN(none.P(0)) || !math.IsNaN(none.Least()) || none.Interval(0.95).Known() {
		t.Errorf("no pairs: %+v", none)
	}
}

func TestCompareSwitchback(t *testing.T) {
	control := Arm{Name: "control", Values: []float64{100, 210, 90, 130, 170, 220, math.NaN(), 300}}
	faster := Arm{Name: "faster", Values: []float64{96, 202, 86.2, 124.6, 163, 211.5, 1, 288.1}}
	same := Arm{Name: "same", Values: []float64{100.1, 209.7, 90, 130.1, 170.2, 219.8, 2, 300.1}}
	opt := Options{Better: LowerIsBetter, MarginPercent: 1}
	cs := CompareSwitchback([]Arm{control, control}, []Arm{faster, same}, opt)
	if c := cs[0]; c.Verdict != Better || c.N != 7 || !(c.EffectPercent.Low < -4 && c.EffectPercent.High > -4.5) || c.P != 2.0/128 {
		t.Errorf("%s, n = %d, %+v, p = %g", c.Verdict, c.N, c.EffectPercent, c.P)
	}
	if c := cs[1]; c.Verdict != Equivalent {
		t.Errorf("%s, %+v", c.Verdict, c.EffectPercent)
	}
	few := Arm{Name: "few", Values: faster.Values[:5]}
	if c := CompareSwitchback([]Arm{control}, []Arm{few}, opt)[0]; c.Verdict != Inconclusive || len(c.Warnings) < 2 || c.EffectPercent.Known() {
		t.Errorf("five pairs: %s, %+v, %v", c.Verdict, c.EffectPercent, c.Warnings)
	}
}

// At a look the interval is that of the look's level.
func TestSwitchbackLooks(t *testing.T) {
	plan, err := NewSequential([]int{8, 12}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	a, b := Arm{}, Arm{}
	for range 12 {
		base := 100 * math.Exp(r.NormFloat64())
		a.Values, b.Values = append(a.Values, base), append(b.Values, base*(1.05+0.01*r.NormFloat64()))
	}
	c := CompareSwitchback([]Arm{a}, []Arm{b}, Options{})[0]
	before := c.Effect.High - c.Effect.Low
	c, _ = plan.Settle(c, 1, Options{})
	if after := c.Effect.High - c.Effect.Low; after < before || c.Verdict != Better {
		t.Errorf("%s, interval %g wide at the look, %g without", c.Verdict, after, before)
	}
}
