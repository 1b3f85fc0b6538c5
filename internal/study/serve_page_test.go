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

// TestAMedianIsDrawnWithoutATail: where the slowest requests are not claimed, as on a
// busy machine, there is still something to see.
func TestAMedianIsDrawnWithoutATail(t *testing.T) {
	median := map[string]float64{RequestP50: 5e6}
	both := map[string]float64{RequestP50: 5e6, RequestP99: 9e6}
	for _, width := range []float64{390, 900} {
		alone := LatencyRanges(answered(median, nil), "p", RequestP50, RequestP99, width, "")
		if strings.Count(alone, "median: 5.00 ms") != 2 || strings.Contains(alone, "99th") || strings.Contains(alone, "NaN") || strings.Contains(alone, "…") {
			t.Errorf("%g wide, of medians alone:\n%s", width, alone)
		}
		if all := LatencyRanges(answered(both, nil), "p", RequestP50, RequestP99, width, ""); strings.Count(all, "5.00 ms … 9.00 ms") != 2 {
			t.Errorf("%g wide:\n%s", width, all)
		}
	}
}

// TestOneBarIsNoPicture: where all took less than a tenth of a second the picture by
// tenths says nothing.
func TestOneBarIsNoPicture(t *testing.T) {
	if got := tenths(answered(nil, []uint64{99, 1}), "p", 900); got != "" {
		t.Errorf("one bar is drawn:\n%s", got)
	}
	if got := tenths(answered(nil, []uint64{80, 20}), "p", 900); !strings.Contains(got, "within 0.1 s") {
		t.Errorf("nothing is drawn of requests that were slow:\n%s", got)
	}
}
