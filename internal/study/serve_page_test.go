package study

import (
	"strings"
	"testing"
)

// answered are trials of two arms of a part, with what their metrics and their tenths of
// a second were.
func answered(metrics map[string]float64, tenths []uint64) Results {
	r := Results{Control: "a"}
	for _, arm := range []string{"a", "b"} {
		o := &Observation{Served: &Served{Tenths: tenths}}
		r.Trials = append(r.Trials, Trial{Part: "p", Variant: arm, Block: 1, Valid: true, Metrics: metrics, Observed: o})
	}
	return r
}

// TestOneBarIsNoPicture: where all took less than a tenth of a second the picture by
// tenths says nothing.
func TestOneBarIsNoPicture(t *testing.T) {
	if got := tenths(answered(nil, []uint64{99, 1}), "p"); got != "" {
		t.Errorf("one bar is drawn:\n%s", got)
	}
	if got := tenths(answered(nil, []uint64{80, 20}), "p"); !strings.Contains(got, "within 0.1 s") {
		t.Errorf("nothing is drawn of requests that were slow:\n%s", got)
	}
}
