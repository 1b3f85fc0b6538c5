package accesslog

import "testing"

// TestColumns: linear ones begin at 0 and leave some beyond them, those of equal
// ratio have a place for all.
func TestColumns(t *testing.T) {
	tally := NewTally(&Options{})
	for _, us := range []int64{50_000, 50_000, 60_000_000} {
		tally.add(us)
	}
	for logBins, want := range map[bool]struct{ from, beyond, peak int64 }{false: {0, 1, 2}, true: {100, 0, 2}} {
		if cols, beyond, peak := tally.columns(logBins); cols[0].from != want.from || beyond != want.beyond || peak != want.peak {
			t.Errorf("log %v: from %d µs, %d beyond, peak %d; want %+v", logBins, cols[0].from, beyond, peak, want)
		}
	}
}
