package study

import (
	"strings"
	"testing"
)

// TestDisturbance: a trial is disturbed if CPU time used by others may have changed its class, and
// only then: a trial without loss is loss-free, and a loss far above what others can explain is
// real.
func TestDisturbance(t *testing.T) {
	mlr, binary, curve := &Search{Method: MLR, Goals: []string{"pdr", "ndr"}}, &Search{Method: RFC2544}, &Search{Method: LossCurve}
	for _, c := range []struct {
		what                     string
		s                        *Search
		loss, unsent, contention float64
		want                     string
	}{
		{"no loss on a busy CPU", binary, 0, 0, 0.3, ""},
		{"far more loss than others explain", mlr, 0.6, 0.02, 0.12, ""},
		{"as much loss as others explain", mlr, 0.08, 0, 0.12, "contention"},
		{"short waits of the thread itself", mlr, 0.01, 0, 0.03, ""},
		{"high for NDR only, because of others", mlr, 0.003, 0, 0.1, "contention"},
		{"loss because frames were unsent", mlr, 0.02, 0.019, 0, "unsent"},
		{"hardly unsent", binary, 0.02, 0.0001, 0, ""},
		{"a curve's loss is its value", curve, 0.6, 0, 0.12, "contention"},
		{"a curve's loss, hardly caused by others", curve, 0.6, 0, 0.055, ""},
		{"a curve's small loss", curve, 0.01, 0, 0.055, "contention"},
		{"a curve's small loss because unsent", curve, 0.01, 0.006, 0, "unsent"},
		{"a curve without loss", curve, 0, 0, 0.12, ""},
		{"a curve's loss without contention", curve, 0.6, 0, 0.01, ""},
	} {
		got := c.s.Disturbance(DefaultGates(), c.loss, c.unsent, c.contention)
		if !strings.HasPrefix(got, c.want) || got != "" && c.want == "" {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// TestQuickSearches: a quick study's searches end sooner, and the full study is not modified.
func TestQuickSearches(t *testing.T) {
	s, err := Parse("x.yaml", []byte(`name: x
question: q
variants: [{name: a}, {name: b}]
parts:
  - {name: found, mode: overload, search: {method: mlr, limit_seconds: 6}}
  - {name: bursts, mode: overload, search: {method: back-to-back, repeats: 3}}
metrics: [{metric: conditional_throughput_pps, primary: true}]
`))
	if err != nil {
		t.Fatal(err)
	}
	q := s.Quick()
	if q.Parts[0].Search.LimitSeconds != 4 || q.Parts[1].Search.Repeats != 2 {
		t.Errorf("quick: %+v, %+v", q.Parts[0].Search, q.Parts[1].Search)
	}
	if s.Parts[0].Search.LimitSeconds != 6 || s.Parts[1].Search.Repeats != 3 {
		t.Errorf("the full study was modified: %+v, %+v", s.Parts[0].Search, s.Parts[1].Search)
	}
}

// TestSearchesAskNothing: management needs a steady load, so it and a search exclude each other.
func TestSearchesAskNothing(t *testing.T) {
	const text = "name: x\nquestion: q\nvariants: [{name: a}, {name: b}]\nparts: [{mode: overload, management: true, search: {method: mlr}}]\n"
	if _, err := Parse("x", []byte(text)); err == nil || !strings.Contains(err.Error(), "management and search are keys of two kinds of parts") {
		t.Error(err)
	}
}
