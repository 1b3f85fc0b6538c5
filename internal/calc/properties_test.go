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
		if scale < 14 && ScaledWindow(scale) < window || scale > 0 && ScaledWindow(scale-1) >= window {
			t.Errorf("a shift of %.0f for %.0f bytes", scale, window)
		}
	}
}

// TestFullLinks: the time that a queue takes to drain is that of its frames on the wire,
// and a path of twice the delay holds twice the bytes.
func TestFullLinks(t *testing.T) {
	for _, link := range []float64{1e9, 10e9, 100e9} {
		if one, two := BDP(link, 0.01), BDP(link, 0.02); two != 2*one || one != link/800 {
			t.Errorf("%g b/s: %g and %g bytes under way", link, one, two)
		}
		for _, frame := range []float64{64, 594, 1518} {
			if got, want := QueueDelay(1000, frame, link)*link/8, 1000*FrameOnWire(frame); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("%g b/s, frames of %g bytes: %g bytes drain, want %g", link, frame, got, want)
			}
		}
	}
	for _, c := range []struct{ max, cpus, want float64 }{{-1, 8, 8}, {0, 8, 1}, {-5, 8, 1}, {4, 8, 4}, {64, 8, 8}, {1, 1, 1}} {
		if got := NetisrThreads(c.max, c.cpus); got != c.want {
			t.Errorf("maxthreads %g on %g CPUs: %g threads, want %g", c.max, c.cpus, got, c.want)
		}
	}
}
