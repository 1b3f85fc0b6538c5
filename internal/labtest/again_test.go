package labtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

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

// TestAgainAtLast: what is broken each time fails, and says what was wrong last.
func TestAgainAtLast(t *testing.T) {
	const inside = "LABTEST_BROKEN"
	if os.Getenv(inside) != "" {
		Again(t, func(t *Try) { t.Error("broken") })
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAgainAtLast$")
	cmd.Env = append(os.Environ(), inside+"=1")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "3 times in a row, at last:") {
		t.Errorf("%v: %s", err, out)
	}
}
