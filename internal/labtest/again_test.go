package labtest

import "testing"

// TestAgain: a disturbance passes, and what is tried is tried three times at most.
func TestAgain(t *testing.T) {
	for _, c := range []struct{ broken, want int }{{0, 1}, {1, 2}, {2, 3}} {
		n := 0
		Again(t, func(t *Try) {
			if n++; n <= c.broken {
				t.Errorf("disturbed")
			}
		})
		if n != c.want {
			t.Errorf("disturbed %d times: measured %d times, want %d", c.broken, n, c.want)
		}
	}
}
