package show

import (
	"math"
	"testing"
)

func TestExact(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Trimmed(1.5, 3), "1.5"}, {Trimmed(2, 3), "2"}, {Trimmed(100, 0), "100"}, {Trimmed(-0.0001, 2), "0"}, {Trimmed(-1.25, 1), "−1.2"}, {Trimmed(math.NaN(), 1), Unknown}, {Trimmed(math.Inf(1), 1), Unknown},
		{Exact(10e9, "b/s"), "10 Gb/s"}, {Exact(2.5e9, "b/s"), "2.5 Gb/s"}, {Exact(14880952.38, "pps"), "14.881 Mpps"}, {Exact(999, "pps"), "999 pps"}, {Exact(1e12, "b/s"), "1 Tb/s"}, {Exact(-2000, "B/s"), "−2 kB/s"}, {Exact(7, ""), "7"},
		{ExactBytes(16 << 20), "16777216 B (16 MiB)"}, {ExactBytes(1500), "1500 B (1.46 KiB)"}, {ExactBytes(64), "64 B"}, {ExactBytes(0), "0 B"}, {ExactBytes(-2048), "−2048 B (−2 KiB)"},
		{ExactSeconds(0), "0 s"}, {ExactSeconds(67.2e-9), "67.2 ns"}, {ExactSeconds(1.5e-3), "1.5 ms"}, {ExactSeconds(12.3456e-6), "12.346 µs"}, {ExactSeconds(90), "90 s"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
