package search_test

import (
	"testing"

	"linerate/internal/search"
)

// On devices whose throughput is defined at all, MLRsearch gives RFC 2544's
// answer within its width in at most half the trial time, and its bounds hold.
// It is RFC 2544's search and MLRsearch on simulated devices of known throughput (-v prints the table).
func TestAgainstRFC2544(t *testing.T) {
	rows, err := Table(30, 1)
	if err != nil {
		t.Fatal(err)
	}
	repeats := map[string]float64{}
	for _, r := range rows {
		same := -1.0
		if r.Same != nil {
			same = *r.Same
		}
		if r.Method == "rfc2544" {
			repeats[r.DUT] = same
		}
		t.Logf("%-20s %-20s answer %9.0f truth %9.0f trials %5.1f time %6.0f ratio %.2f regular %.2f holds %.2f same %.2f",
			r.DUT, r.Method, r.Answer, r.Truth, r.Trials, r.Time, r.Ratio, r.Regular, r.Holds, same)
		if r.Method != "mlr rfc2544" {
			continue
		}
		if r.Ratio > 0.5 {
			t.Errorf("%s: %.2f of RFC 2544's time", r.DUT, r.Ratio)
		}
		// A device with loss inversion has two throughputs; a search finds one. RFC 2544's
		// search tries the same few loads every time, so its results repeat better than the
		// device's.
		if same < repeats[r.DUT]-0.25 && r.DUT != "loss inversion" {
			t.Errorf("%s: the same answer in %.2f of runs; RFC 2544 repeats itself in %.2f", r.DUT, same, repeats[r.DUT])
		}
		if r.Regular < 0.999 {
			t.Errorf("%s: only %.2f of runs were regular", r.DUT, r.Regular)
		}
		if r.Holds < 0.8 {
			t.Errorf("%s: bounds hold in %.2f of runs only", r.DUT, r.Holds)
		}
	}
}

// The crossing of a steady device is its capacity divided by the share that must arrive.
func TestCrossing(t *testing.T) {
	d := DUT{Capacity: 1e6}
	for loss, want := range map[float64]float64{0: 1e6, 0.005: 1e6 / 0.995} {
		got := d.Crossing(search.Goal{FinalDuration: 1, LossRatio: loss}, 1)
		if got < want*0.9999 || got > want*1.0001 {
			t.Errorf("loss %g: crossing at %.0f, want %.0f", loss, got, want)
		}
	}
}
