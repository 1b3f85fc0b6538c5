package study

import (
	"fmt"
	"math"
	"testing"
)

// trialsOf makes valid trials of four blocks; value returns the metric's values.
func trialsOf(s Spec, metric string, value func(p Part, v Variant, block int) map[string]float64) (out []Trial) {
	for _, p := range s.Parts {
		for _, v := range s.Variants {
			for b := 1; b <= 4; b++ {
				out = append(out, Trial{Part: p.Name, Variant: v.Name, Block: b, Valid: true, Mode: p.Mode, Metrics: value(p, v, b)})
			}
		}
	}
	return out
}

func sweptStudy(t *testing.T, text string) Spec {
	t.Helper()
	s, err := Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCurveOfLinearCosts(t *testing.T) {
	s := sweptStudy(t, `name: x
question: q
sweep: [{parameter: rules, values: [1, 10, 100, 1000], fit: linear}]
variants:
  - {name: none, at: {rules: 0}}
  - {name: rules-$rules, settings: [{firewall: {linear: $rules}}]}
`)
	cs := curves(s, trialsOf(s, CostNS, func(_ Part, v Variant, b int) map[string]float64 {
		return map[string]float64{CostNS: (800 + 2.5*v.At["rules"]) * (1 + 0.001*float64(b))}
	}))
	if len(cs) != 1 || cs[0].Name != "rules" || len(cs[0].Points) != 5 {
		t.Fatalf("curves %+v", cs)
	}
	f := cs[0].Fit
	if f == nil || !(math.Abs(f.Each-2.506) <= 0.01) || !(math.Abs(f.Base-802) <= 1) || f.Off > 0.1 {
		t.Errorf("fit %+v", f)
	}
	if !(f.Low.Float() < f.Each && f.Each < f.High.Float()) {
		t.Errorf("the interval %v to %v does not contain %v", f.Low, f.High, f.Each)
	}
}

// TestCurveWithAStep: the cost of having a filter at all is fitted separately from that of each
// rule; without a point for zero rules there is a single line.
func TestCurveWithAStep(t *testing.T) {
	const text = `name: x
question: q
sweep: [{parameter: rules, values: [1, 10, 100, 1000], fit: linear}]
variants:
  - {name: none, at: {rules: 0}}
  - {name: rules-$rules, settings: [{firewall: {linear: $rules}}]}
`
	s := sweptStudy(t, text)
	trials := trialsOf(s, CostNS, func(_ Part, v Variant, b int) map[string]float64 {
		cost := (800 + 2.5*v.At["rules"]) * (1 + 0.001*float64(b))
		if v.At["rules"] > 0 {
			cost += 60 + 0.5*float64(b)
		}
		return map[string]float64{CostNS: cost}
	})
	f := curves(s, trials)[0].Fit
	if f == nil || !(math.Abs(f.Each-2.506) <= 0.01) || !(math.Abs(f.Base-802) <= 0.1) || !(math.Abs(f.Any.Float()-61.25) <= 0.1) || f.Off > 0.1 {
		t.Errorf("fit %+v", f)
	}
	if low, high := f.AnyLow.Float(), f.AnyHigh.Float(); !(60 < low && low < 61.25 && 61.25 < high && high < 63) {
		t.Errorf("the step's interval is %v to %v", low, high)
	}
	if f.At(0) != f.Base || !(math.Abs(f.At(1000)-(802+61.25+2506)) <= 2) {
		t.Errorf("the fit at zero rules is %v, at a thousand %v", f.At(0), f.At(1000))
	}
	for i := range trials { // zero rules were never measured
		if trials[i].Variant == "none" {
			trials[i].Valid = false
		}
	}
	if f := curves(s, trials)[0].Fit; f == nil || f.Any.Known() || !(math.Abs(f.Base-863) <= 1) {
		t.Errorf("without a point for zero rules: %+v", f)
	}
}

// TestNoLineToNothing: where a point is zero, relative distances are not finite, and results.json
// cannot represent them.
func TestNoLineToNothing(t *testing.T) {
	c := Curve{Points: []Spot{{X: 1, Value: 5}, {X: 2, Value: 3}, {X: 3}}}
	fitLine(&c, func(Spot) map[int]float64 { return nil })
	if c.Fit != nil {
		t.Errorf("fit %+v", c.Fit)
	}
}

// TestKnee: beyond its capacity of 500 kpps a router keeps its rate or collapses.
func TestKnee(t *testing.T) {
	s := sweptStudy(t, `name: x
question: q
sweep: [{parameter: load, values: [100000, 400000, 800000]}]
variants: [{name: holds}, {name: collapses}]
parts:
  - {name: at-$load, mode: overload, rate: $load}
  - {name: at-max, mode: overload}
  - {name: usable, mode: overload, management: true} # no point of the curve
metrics: [{metric: loss_ratio, part: at-max, primary: true}]
`)
	cs := curves(s, trialsOf(s, OverloadRate, func(p Part, v Variant, _ int) map[string]float64 {
		load := p.At["load"]
		if p.At == nil {
			load = 3e6
		}
		out := min(load, 500e3)
		if v.Name == "collapses" && load > 500e3 {
			out = 500e3 * 500e3 / load
		}
		return map[string]float64{OfferedRate: load, OverloadRate: out, LossRatio: 1 - out/load}
	}))
	if len(cs) != 2 || len(cs[0].Points) != 4 {
		t.Fatalf("curves %+v", cs)
	}
	for i, want := range []Knee{{Load: 400e3, Best: 500e3, Beyond: 1, Most: 6}, {Load: 400e3, Best: 400e3, Beyond: 1.0 / 4.8, Most: 7.5}} {
		k := cs[i].Knee
		if k == nil || fmt.Sprintf("%.3g", *k) != fmt.Sprintf("%.3g", want) {
			t.Errorf("%s: knee %+v, want %+v", cs[i].Name, k, want)
		}
	}
	if !cs[0].Offered {
		t.Error("a sweep of rates is not shown as one of offered loads")
	}
}
