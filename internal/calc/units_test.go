package calc

import (
	"math"
	"testing"

	"linerate/internal/hint"
)

func TestParseRange(t *testing.T) {
	for text, want := range map[string][2]float64{"500B-10kB": {500, 10_000}, "4kB": {4000, 4000}, "1KiB - 2KiB": {1024, 2048}, "7B-7B": {7, 7}} {
		if lo, hi, err := ParseRange(text, Bytes); err != nil || lo != want[0] || hi != want[1] {
			t.Errorf("%q: %g, %g, %v", text, lo, hi, err)
		}
	}
	for _, bad := range []string{"", "-", "1kB-", "-1kB", "2kB-1kB", "1kB-2kB-3kB", "1s-2s"} {
		if lo, hi, err := ParseRange(bad, Bytes); err == nil {
			t.Errorf("%q is read as %g to %g", bad, lo, hi)
		}
	}
}

// TestParseWithUnit: a bare number is refused where a unit is needed, and counts
// need none.
func TestParseWithUnit(t *testing.T) {
	for _, c := range []struct {
		text string
		unit Unit
		want float64
	}{{"10G", BitsPerSecond, 10e9}, {" 30 ms ", Seconds, 0.03}, {"5M", Count, 0}, {"5000000", Count, 5e6}, {"25GbE", BitsPerSecond, 25e9}, {"10", BitsPerSecond, 0}, {"1e9", BitsPerSecond, 0}, {"30", Seconds, 0}, {"", Seconds, 0}, {"64", Bytes, 0}} {
		got, err := ParseWithUnit(c.text, c.unit)
		if c.want == 0 && c.text != "5M" && err == nil || c.want != 0 && (err != nil || got != c.want) {
			t.Errorf("%q in %s: %g, %v", c.text, c.unit, got, err)
		}
	}
}

// TestQuantitiesThatMislead: what may mean two things, or more than a number holds, is
// refused with how it is written.
func TestQuantitiesThatMislead(t *testing.T) {
	for text, unit := range map[string]Unit{
		"5m": Seconds, "5 M": Seconds, "5k": Seconds, "5u": Seconds, "5n": Seconds, "10m": BitsPerSecond, "10mb/s": BitsPerSecond, "5ms": Bytes, "1e308TB": Bytes, "1e308k": Count, "-1e308Gb/s": BitsPerSecond, "1e999": Count, "1_000_": Seconds + "x",
		"": Bytes, "K": Bytes, "1.2.3": Bytes, "0x10": Bytes, "10 %": Bytes, "1e": Seconds, "١": Count, "NaN": Count, "Inf": Count,
	} {
		if v, err := Parse(text, unit); err == nil || !hint.IsUsage(err) {
			t.Errorf("%q in %s is %v, %v", text, unit, v, err)
		}
	}
	for text, want := range map[string]float64{"5ms": 0.005, "5min": 300, "2h": 7200, "5 us": 5e-6, "5µs": 5e-6, "7": 7, "3s": 3, "1_000s": 1000, "1e3s": 1000, "+2s": 2, "-2s": -2, "1e-3s": 0.001, "1E+3s": 1000} {
		if v, err := Parse(text, Seconds); err != nil || math.Abs(v-want) > 1e-12 {
			t.Errorf("%q is %v s, %v, want %v", text, v, err, want)
		}
	}
	for text, want := range map[string]float64{"64K": 65536, "64k": 65536, "64kB": 64000, "64KiB": 65536, "1g": 1 << 30, "1G": 1 << 30, "1GB": 1e9, "2 TiB": 2 << 40, "5": 5, "5 bytes": 5} {
		if v, err := Parse(text, Bytes); err != nil || v != want {
			t.Errorf("%q is %v bytes, %v, want %v", text, v, err, want)
		}
	}
	for text, want := range map[string]float64{"10GbE": 10e9, "10G": 10e9, "1.25GB/s": 10e9, "100 Mbit/s": 1e8, "40Gbps": 40e9, "1Gib/s": 1 << 30} {
		if v, err := Parse(text, BitsPerSecond); err != nil || v != want {
			t.Errorf("%q is %v b/s, %v, want %v", text, v, err, want)
		}
	}
}
