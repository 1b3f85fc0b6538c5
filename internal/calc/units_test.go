package calc

import "testing"

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
