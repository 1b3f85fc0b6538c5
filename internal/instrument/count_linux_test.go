package instrument

import "testing"

// TestScaled: a counter that had to take turns is worth as much more.
func TestScaled(t *testing.T) {
	for _, c := range []struct{ value, enabled, running, want uint64 }{{200, 100, 100, 200}, {200, 100, 50, 400}, {0, 100, 0, 0}, {0, 0, 0, 0}, {5, 100, 100, 5}} {
		if got := scaled(c.value, c.enabled, c.running); got != float64(c.want) {
			t.Errorf("%+v: %g", c, got)
		}
	}
}
