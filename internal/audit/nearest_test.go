package audit

import (
	"math/big"
	"testing"

	"linerate/internal/tunable"
)

// TestNearest: other settings are held against what a clamped value becomes.
func TestNearest(t *testing.T) {
	x := tunable.Range{Domain: tunable.Whole, Least: big.NewInt(1), Most: big.NewInt(65535)}
	for value, want := range map[string]string{"70000": "65535", "0": "1", "-5": "1", "1024": "1024", "0x10": "0x10", "many": "many"} {
		if got := nearest(x, value); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	if got := nearest(tunable.Range{Domain: tunable.Vectors, Most: big.NewInt(9)}, "10"); got != "10" {
		t.Error(got)
	}
}
