package load

import (
	"testing"
	"time"
)

// TestOver: a run ends after whole rounds at its limit, but not before it has the minimum number of
// slices.
func TestOver(t *testing.T) {
	p := SlicePlan{Limit: time.Second, Least: 10}
	for _, c := range []struct {
		i     int
		since time.Duration
		over  bool
	}{
		{0, time.Hour, false}, {4, time.Hour, false}, {8, time.Hour, false}, {10, time.Hour, false},
		{12, time.Hour, true}, {12, time.Millisecond, false}, {13, time.Hour, false}, {16, time.Second, true},
	} {
		if got := p.Over(c.i, 4, c.since); got != c.over {
			t.Errorf("before slice %d, after %v: over %v, want %v", c.i, c.since, got, c.over)
		}
	}
}
