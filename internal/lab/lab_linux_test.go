package lab

import (
	"runtime"
	"testing"
	"time"
)

// TestSpinTakesTime checks only that a spin does work: it must not be optimised away, and its duration must not
// vary by orders of magnitude.
func TestSpinTakesTime(t *testing.T) {
	m := Local{}
	spin := func() (least float64) { // the fastest of twenty, as any may be interrupted
		for range 20 {
			ns, err := m.Spin(-1)
			if err != nil {
				t.Fatal(err)
			}
			if least == 0 || ns < least {
				least = ns
			}
		}
		return least
	}
	a, b := spin(), spin()
	if a < spinSteps/20 || a > 100*b || b > 100*a {
		t.Errorf("%d steps took %g ns and %g ns", spinSteps, a, b)
	}
}

func TestMeterSeesOnlyItsOwnThreads(t *testing.T) {
	// A place runs work on a separate thread; so must this one.
	place := func(f func() error) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return f()
	}
	in, contention := Local{}.Meter(place, -1)
	if err := in(func() error { time.Sleep(5 * time.Millisecond); return nil }); err != nil {
		t.Fatal(err)
	}
	if d := contention(); d < 0 || d > time.Minute {
		t.Errorf("a sleeping thread waited %v for others", d)
	}
	if d := contention(); d != 0 {
		t.Errorf("nothing ran since, but %v were waited", d)
	}
}
