package study

import (
	"strings"
	"testing"
)

// answered returns the trials of two arms of a part with the given metrics and counts by tenths of a
// second.
func answered(metrics map[string]float64, tenths []uint64) Results {
	r := Results{Control: "a"}
	for _, arm := range []string{"a", "b"} {
		o := &Observation{Served: &Served{Tenths: tenths}}
		r.Trials = append(r.Trials, Trial{Part: "p", Variant: arm, Block: 1, Valid: true, Metrics: metrics, Observed: o})
	}
	return r
}

// TestOneBarIsNoPicture: if all requests took less than a tenth of a second, the histogram is left
// out.
func TestOneBarIsNoPicture(t *testing.T) {
	if got := tenths(answered(nil, []uint64{99, 1}), "p"); got != "" {
		t.Errorf("a histogram with a single bar is drawn:\n%s", got)
	}
	if got := tenths(answered(nil, []uint64{80, 20}), "p"); !strings.Contains(got, "within 0.1 s") {
		t.Errorf("no histogram of slow requests is drawn:\n%s", got)
	}
}
