package calc

import (
	"math"
	"strings"
	"testing"
)

// FuzzQuantities: what is read as a quantity is a number, and reads the same with blanks
// around it; a range's ends are in order.
func FuzzQuantities(f *testing.F) {
	for _, s := range []string{"10G", "10 Gb/s", "64K", "16MiB", "13ms", "1e3", "1_000", "-1", "+5", "1e", "1e+", ".", "5 µs", "25GbE", "1kB-2kB", "99999999999999999999e999"} {
		f.Add(s)
	}
	units := []Unit{Count, BitsPerSecond, Bytes, BytesPerSecond, Seconds, PacketsPerSecond, PerSecond, Percent}
	f.Fuzz(func(t *testing.T, text string) {
		for _, u := range units {
			v, err := Parse(text, u)
			if err != nil {
				if len(err.Error()) > 400 {
					t.Errorf("an error of %d bytes", len(err.Error()))
				}
				continue
			}
			if math.IsNaN(v) {
				t.Errorf("%q in %s is no number", text, u)
			}
			if again, err := Parse(" "+text+"\t", u); err != nil || again != v {
				t.Errorf("%q in %s: %g, with blanks %g, %v", text, u, v, again, err)
			}
			if lo, hi, err := ParseRange(text, u); err == nil && hi < lo {
				t.Errorf("%q ranges from %g to %g", text, lo, hi)
			}
			Format(v, u)
		}
	})
}

// TestFactors: a bare prefix is binary behind a size only, and no part of a second: 1m may be a minute.
func TestFactors(t *testing.T) {
	for _, c := range []struct {
		text string
		unit Unit
		want float64 // 0: refused
	}{
		{"64K", Bytes, 65536}, {"64kB", Bytes, 64000}, {"64KiB", Bytes, 65536}, {"64K", PacketsPerSecond, 64000}, {"1m", Bytes, 1 << 20}, {"1mB", Bytes, 0}, {"1m", Seconds, 0}, {"1ms", Seconds, 0.001},
		{"2min", Seconds, 120}, {"2h", Seconds, 7200}, {"3µs", Seconds, 3e-6}, {"3us", Seconds, 3e-6}, {"5n", Seconds, 0}, {"5ns", Seconds, 5e-9}, {"8B/s", BitsPerSecond, 64}, {"1GB/s", BitsPerSecond, 8e9}, {"8b/s", BytesPerSecond, 1},
		{"8Gbit/s", BytesPerSecond, 1e9}, {"100GbE", BitsPerSecond, 1e11}, {"1.488Mpps", PacketsPerSecond, 1.488e6}, {"5%", Percent, 5}, {"5", Percent, 5}, {"5k", Count, 5000}, {"5 s", Bytes, 0}, {"1Ti", Bytes, 1 << 40}, {"1e3", Count, 1000},
		{"1e3 kB", Bytes, 1e6}, {"1_500", Bytes, 1500}, {"--1", Count, 0}, {"1e400", Count, 0}, {"0x10", Count, 0}, {"Inf", Count, 0}, {"NaN", Seconds, 0},
	} {
		got, err := Parse(c.text, c.unit)
		if (err != nil) != (c.want == 0) || math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%q in %s: %g, %v; want %g", c.text, c.unit, got, err, c.want)
		}
	}
	if _, err := Parse(strings.Repeat("9x", 5000), Bytes); err == nil || len(err.Error()) > 200 {
		t.Errorf("what is refused is quoted whole: %d bytes", len(err.Error()))
	}
}
