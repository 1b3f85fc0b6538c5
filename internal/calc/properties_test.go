package calc

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLROOfCapture: the inputs that a capture answers itself are refused, those that it
// cannot are bounded, and what comes out is of its segments.
func TestLROOfCapture(t *testing.T) {
	data := capture(t, tcpFrame(t, 1, 1000, false, false), tcpFrame(t, 2, 1000, false, false), tcpFrame(t, 1, 2000, false, false), tcpFrame(t, 2, 2000, true, false))
	for _, c := range []struct {
		name         string
		args         map[string]string
		plain, after float64
	}{
		{"by default a whole batch and an entry for each", nil, 2, 2},
		{"one entry is the first connection's, the other passes as it is", map[string]string{"entries": "1"}, 4.0 / 3, 2},
		{"batches of one are flushed at once", map[string]string{"batch": "1"}, 1, 1},
		{"batches of two hold each connection once", map[string]string{"batch": "2", "entries": "8"}, 1, 1},
	} {
		r, err := LROOfCapture(bytes.NewReader(data), c.args)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		plain, _ := r.Output("as_they_come")
		after, _ := r.Output("sorted")
		saved, _ := r.Output("stack_saved")
		if plain != c.plain || after != c.after || saved != 100*(1-plain/after) {
			t.Errorf("%s: %v as they come, %v sorted, %v saved", c.name, plain, after, saved)
		}
	}
	for name, args := range map[string]map[string]string{
		"flows comes from the capture": {"flows": "3"}, "seed comes from the capture": {"seed": "1"},
		"batch=0 is not": {"batch": "0"}, "batch=65537 is not": {"batch": "65537"}, "entries=1.5 is not": {"entries": "1.5"}, "entries=many is not": {"entries": "many"},
	} {
		if _, err := LROOfCapture(bytes.NewReader(data), args); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v, want %q", args, err, name)
		}
	}
	if _, err := LROOfCapture(bytes.NewReader(capture(t, make([]byte, 60))), nil); err == nil || !strings.Contains(err.Error(), "no TCP segments") {
		t.Errorf("a capture of nothing: %v", err)
	}
}

// TestCapturesThatBreak: a capture that was cut keeps what it has, one whose disk fails
// is an error, wherever that happens.
func TestCapturesThatBreak(t *testing.T) {
	data := capture(t, tcpFrame(t, 1, 1, false, false), tcpFrame(t, 1, 1001, false, false))
	one := len(capture(t, tcpFrame(t, 1, 1, false, false)))
	for cut := 24; cut < len(data); cut++ {
		segments, _, _, err := ReadSegments(bytes.NewReader(data[:cut]))
		want := 0
		if cut >= one {
			want = 1
		}
		if err != nil || len(segments) != want {
			t.Fatalf("cut at byte %d: %d segments, %v", cut, len(segments), err)
		}
	}
	broken := errors.New("the disk is gone")
	if _, _, _, err := ReadSegments(iotest.ErrReader(broken)); err == nil {
		t.Error("nothing could be read, and that is no error")
	}
}

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
