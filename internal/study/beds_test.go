package study_test

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/study"
)

// spread moves odd blocks to a testbed that is twice as slow, and where b costs factor times more.
func spread(factor float64) func(*study.Trial) {
	return func(t *study.Trial) {
		t.Testbed = "even"
		if t.Block%2 == 0 {
			return
		}
		t.Testbed = "odd"
		slow := 2.0
		if t.Variant == "b" {
			slow *= factor
		}
		for _, m := range []string{study.ForwardingRate, study.OverloadRate} {
			if v, ok := t.Metrics[m]; ok {
				t.Metrics[m] = v / slow
			}
		}
		if v, ok := t.Metrics[study.CostNS]; ok {
			t.Metrics[study.CostNS] = v * slow
		}
	}
}

func TestTestbedIsABlockingFactor(t *testing.T) {
	s := fullGoals(twoParts())
	one := study.Analyse(s, 9, study.Environment{}, made(s, 9, nil))
	env := study.AcrossBeds([]string{"even", "odd"}, []study.Environment{{CPU: "Xeon", Kernel: "6.12"}, {CPU: "Xeon", Kernel: "6.18", Unavailable: map[string]string{"search": "no"}}})
	r := study.Analyse(s, 9, env, made(s, 9, spread(1)))
	a, b := verdictFor(t, one, study.ForwardingRate, "b"), verdictFor(t, r, study.ForwardingRate, "b")
	if !(math.Abs(a.EffectPercent.Float()-b.EffectPercent.Float()) <= 1e-9) || a.CILow != b.CILow || a.Verdict != b.Verdict {
		t.Errorf("a testbed that is twice as slow changed the effect: %v, %v", a, b)
	}
	if len(b.Beds) != 2 || b.Beds[0].Testbed != "even" || b.Beds[0].N+b.Beds[1].N != 5 || b.PBeds.Float() < 0.05 {
		t.Errorf("by testbed: %+v, p %v", b.Beds, b.PBeds)
	}
	line := r.BedsLine()
	for _, want := range []string{"2 testbeds", "even (", "odd has kernel 6.18 (6.12)", "No difference shown between testbeds in the effect of b"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in: %s", want, line)
		}
	}
	if len(r.Beds) != 2 || !strings.Contains(env.Unavailable["search"], "odd") {
		t.Errorf("%+v, %v", r.Beds, env.Unavailable)
	}
	if one.BedsLine() != "" || len(one.Beds) > 0 || one.Verdicts[0].Beds != nil {
		t.Error("results of one testbed are reported as of several")
	}
}

func TestTestbedsThatDisagree(t *testing.T) {
	s := fullGoals(twoParts())
	r := study.Analyse(s, 9, study.Environment{}, made(s, 9, spread(1.5)))
	v := verdictFor(t, r, study.ForwardingRate, "b")
	if v.PBeds.Float() >= 0.05 || len(v.Warnings) == 0 || !strings.Contains(strings.Join(v.Warnings, " "), "differs between testbeds") {
		t.Errorf("p %v, warnings %q", v.PBeds, v.Warnings)
	}
	if c := verdictFor(t, r, study.ForwardingRate, "c"); c.PBeds.Float() < 0.05 {
		t.Errorf("c has the same effect on both testbeds, but p is %v", c.PBeds)
	}
	if !strings.Contains(r.BedsLine(), "The effect differs between testbeds for b (p") {
		t.Error(r.BedsLine())
	}
}
