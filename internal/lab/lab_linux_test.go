package lab

import (
	"testing"
	"time"
)

func TestParseSteal(t *testing.T) {
	stat := []byte("cpu  1 2 3 4 5 6 7 80 0 0\ncpu0 1 2 3 4 5 6 7 30 0 0\ncpu1 1 2 3 4 5 6 7 50 0 0\nintr 5\n")
	for cpu, want := range map[int]time.Duration{-1: 800 * time.Millisecond, 0: 300 * time.Millisecond, 1: 500 * time.Millisecond} {
		if got, err := parseSteal(stat, cpu); err != nil || got != want {
			t.Errorf("CPU %d: %v, %v, want %v", cpu, got, err, want)
		}
	}
	if _, err := parseSteal(stat, 7); err == nil {
		t.Error("a CPU that is not there has a steal time")
	}
}

// TestSpinTakesTime asks only that a spin is work: it must not be optimised
// away, and the same work must not differ by orders of magnitude.
func TestSpinTakesTime(t *testing.T) {
	m := Local{}
	a, err := m.Spin(-1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Spin(-1)
	if err != nil {
		t.Fatal(err)
	}
	if a < spinSteps/20 || a > 100*b || b > 100*a {
		t.Errorf("%d steps took %g ns and %g ns", spinSteps, a, b)
	}
}

func TestMeterSeesOnlyItsOwnThreads(t *testing.T) {
	in, contention := Local{}.Meter(func(f func() error) error { return f() }, -1)
	if err := in(func() error { time.Sleep(5 * time.Millisecond); return nil }); err != nil {
		t.Fatal(err)
	}
	if d := contention(); d < 0 || d > time.Second {
		t.Errorf("a sleeping thread waited %v for others", d)
	}
	if d := contention(); d != 0 {
		t.Errorf("nothing ran since, but %v were waited", d)
	}
}
