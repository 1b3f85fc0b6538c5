package stats

import (
	"math"
	"testing"
)

// TestRandomizationOfTies: differences that are all 0 are no evidence, and with some zeros d and −d have
// the same p.
func TestRandomizationOfTies(t *testing.T) {
	for _, n := range []int{6, 12, 20} {
		if p := Randomise(make([]float64, n), 10_000, 1).P(0); p != 1 {
			t.Errorf("%d differences of 0: p = %g", n, p)
		}
	}
	d := []float64{0, 0, 0, 3, 3, 0, 5, 0}
	minus := make([]float64, len(d))
	for i, v := range d {
		minus[i] = -v
	}
	if p, q := Randomise(d, 0, 1).P(0), Randomise(minus, 0, 1).P(0); math.Abs(p-q) > 1e-12 || p < 2*float64(1)/8 {
		t.Errorf("p = %g of d, %g of −d; three differences with the same sign give at least 1/4", p, q)
	}
}
