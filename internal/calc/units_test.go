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
