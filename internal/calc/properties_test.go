package calc

import (
	"math"
	"testing"
)

// TestWindowsAndTheirBuffers: a buffer that is sized for a window holds it, one byte less
// of window needs no more, and a shift announces at least the buffer up to its limit.
func TestWindowsAndTheirBuffers(t *testing.T) {
	for window := 4096.0; window < 1<<30; window = math.Floor(window * 1.7) {
		buffer := SockbufFor(window)
		if UsableSockbuf(buffer) < window {
			t.Errorf("a buffer of %.0f for a window of %.0f holds %.0f", buffer, window, UsableSockbuf(buffer))
		}
		if SockbufFor(window-1) > buffer {
			t.Errorf("a smaller window than %.0f needs a larger buffer", window)
		}
		scale := WindowScale(window)
		if window > 65535*math.Exp2(scale) && scale < 14 || scale > 0 && 65535*math.Exp2(scale-1) >= window {
			t.Errorf("a shift of %.0f for %.0f bytes", scale, window)
		}
	}
}

// TestThreads: -1 is one per CPU, and there are never more.
func TestThreads(t *testing.T) {
	for _, c := range []struct{ max, cpus, want float64 }{{-1, 8, 8}, {0, 8, 1}, {-5, 8, 1}, {4, 8, 4}, {64, 8, 8}, {1, 1, 1}} {
		if got := NetisrThreads(c.max, c.cpus); got != c.want {
			t.Errorf("maxthreads %g on %g CPUs: %g threads, want %g", c.max, c.cpus, got, c.want)
		}
	}
}
