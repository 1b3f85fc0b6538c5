package stats_test

import (
	"encoding/json"
	"testing"

	"linerate/internal/stats"
)

// older is a document that knew a comparison's members before Result did.
type older struct {
	Name string `json:"name"`
	stats.Result
	More int `json:"more"`
}

func TestDocument(t *testing.T) {
	full := older{"<a>", stats.Result{N: 3, Effect: stats.Effect{EffectPercent: stats.Num(1), EffectPoints: stats.Num(2)}, P: stats.Num(0.5), PHolm: stats.Num(0.6), Verdict: stats.Better}, 7}
	for order, want := range map[string]string{
		"verdict n":                  `{"name":"<a>","verdict":"better","n":3,"more":7}`,
		"more n":                     `{"name":"<a>","more":7,"n":3}`,
		"p_value more name":          `{"p_value":0.5,"more":7,"name":"<a>"}`,
		stats.EffectMembers + "none": `{"name":"<a>","effect_percent":1,"ci_low":null,"ci_high":null,"effect_points":2,"more":7}`,
		"":                           `{"name":"<a>","more":7}`,
	} {
		got, err := stats.Document(full, order)
		if err != nil || string(got) != want {
			t.Errorf("%q: %s, %v\nwant %s", order, got, err, want)
		}
		if !json.Valid(got) {
			t.Errorf("%q: %s is no JSON", order, got)
		}
	}
	if _, err := stats.Document(struct{ F func() }{}, "n"); err == nil {
		t.Error("a function is written")
	}
	if _, err := stats.Document([]int{1}, "n"); err == nil {
		t.Error("a list has members")
	}
}

// TestResultOfAComparison: what documents say is what was computed.
func TestResultOfAComparison(t *testing.T) {
	control, variant := stats.Arm{Values: []float64{100, 101, 99, 100, 102}}, stats.Arm{Values: []float64{110, 111.5, 109, 110, 112}}
	c := stats.CompareBlocks(control, []stats.Arm{variant}, stats.Options{Better: stats.LowerIsBetter})[0]
	r := c.Result()
	if r.N != 5 || r.Verdict != stats.Worse || r.P.Float() != c.P || r.PHolm.Float() != c.PHolm || r.EffectPercent.Float() != c.EffectPercent.Estimate || r.CIHigh.Float() != c.EffectPercent.High {
		t.Errorf("%+v of %+v", r, c)
	}
	c = stats.CompareBlocks(stats.Arm{}, []stats.Arm{{}}, stats.Options{})[0]
	if r := c.Result(); r.N != 0 || r.Verdict != stats.Invalid || r.P.Known() || r.EffectPercent.Known() {
		t.Errorf("of nothing: %+v", r)
	}
}
