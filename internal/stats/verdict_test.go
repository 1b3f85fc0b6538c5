package stats

import (
	"encoding/json"
	"math"
	"testing"

	"linerate/internal/hint"
)

func TestVerdictsBySeverity(t *testing.T) {
	all := Verdicts()
	for i, v := range all {
		for j, o := range all {
			if got := v.Compare(o); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%s against %s: %d", v, o, got)
			}
		}
		if again, err := ParseVerdict(string(v)); err != nil || again != v {
			t.Errorf("%s reads as %q, %v", v, again, err)
		}
		if v.Differs() != (v == Better || v == Worse) {
			t.Errorf("%s differs: %t", v, v.Differs())
		}
	}
	if Inconclusive.Compare(Worse) >= 0 || Worse.Compare(Invalid) >= 0 || Better.Compare(Equivalent) >= 0 {
		t.Error("the order is not: better, equivalent, inconclusive, worse, invalid")
	}
	all[0] = Invalid
	if Verdicts()[0] != Better {
		t.Error("a caller changed the order")
	}
	if _, err := ParseVerdict("wors"); !hint.IsUsage(err) || hint.Of(err) == "" {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
}

func TestNumberInJSON(t *testing.T) {
	type doc struct {
		Effect
		P Number `json:"p"`
	}
	for _, c := range []struct {
		value doc
		want  string
	}{
		{doc{}, `{"effect_percent":null,"ci_low":null,"ci_high":null,"p":null}`},
		{doc{EffectOf(Interval{Estimate: -7.25, Low: math.Inf(-1), High: math.NaN()}), Num(0)}, `{"effect_percent":-7.25,"ci_low":null,"ci_high":null,"p":0}`},
		{doc{P: Num(1e-30)}, `{"effect_percent":null,"ci_low":null,"ci_high":null,"p":1e-30}`},
	} {
		got, err := json.Marshal(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s, %v, want %s", got, err, c.want)
		}
		back := doc{P: Num(77)}
		if err := json.Unmarshal(got, &back); err != nil || back != c.value {
			t.Errorf("%s reads as %+v, %v", got, back, err)
		}
	}
	var missing doc
	if err := json.Unmarshal([]byte(`{}`), &missing); err != nil || missing.P.Known() || !math.IsNaN(missing.P.Float()) {
		t.Errorf("a missing field is %v, %v", missing.P, err)
	}
	if err := json.Unmarshal([]byte(`{"p":"0.5"}`), &missing); err == nil {
		t.Error("a text is no number")
	}
}
