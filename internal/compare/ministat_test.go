package compare

import (
	"math"
	"testing"
)

// TestMinistat checks results printed by FreeBSD's ministat.
func TestMinistat(t *testing.T) {
	d, err := Ministat([]float64{1, 2, 3}, []float64{5, 6, 7, 8}, 95)
	if err != nil || !d.Proven {
		t.Fatalf("%+v, %v", d, err)
	}
	for what, v := range map[string][2]float64{"delta": {d.Delta, 4.5}, "error": {d.Error, 2.3234}, "percent": {d.Percent, 225}, "pooled s": {d.PooledSD, 1.18322}} {
		if math.Abs(v[0]-v[1]) > 1e-4*v[1] {
			t.Errorf("%s is %g, want %g", what, v[0], v[1])
		}
	}
	if d, err := Ministat([]float64{1, 2, 3}, []float64{1, 2, 3}, 99.5); err != nil || d.Proven {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := Ministat([]float64{1, 2}, []float64{1, 2, 3}, 95); err == nil {
		t.Error("a sample of two values was accepted")
	}
	if _, err := Ministat([]float64{1, 2, 3}, []float64{1, 2, 3}, 97); err == nil {
		t.Error("a confidence level that ministat lacks was accepted")
	}
}
