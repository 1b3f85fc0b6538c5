package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTrimmedMean(t *testing.T) {
	for _, c := range []struct {
		x     []float64
		share float64
		want  float64
	}{
		{[]float64{3, 1, 2}, 0, 2},
		{[]float64{1000, 1, 2, 3, -1000}, 0.2, 2},
		{[]float64{4}, 0.2, 4},
		{nil, 0.2, math.NaN()},
	} {
		if got, _ := TrimmedMean(c.x, c.share); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v trimmed by %g: %g, want %g", c.x, c.share, got, c.want)
		}
	}
}

// TestTrimmedMeanKnowsItsError: the standard error matches the scatter of repeated samples, despite a few
// outliers.
func TestTrimmedMeanKnowsItsError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var means, errs []float64
	for range 400 {
		x := make([]float64, 200)
		for i := range x {
			x[i] = rng.NormFloat64()
			if i%20 == 0 {
				x[i] = 50 * rng.ExpFloat64()
			}
		}
		m, se := TrimmedMean(x, 0.2)
		means, errs = append(means, m), append(errs, se)
	}
	_, variance := MeanVariance(means)
	mean, _ := MeanVariance(errs)
	if sd := math.Sqrt(variance); !(math.Abs(mean/sd-1) <= 0.15) {
		t.Errorf("means scatter by %.4f, the stated error is %.4f", sd, mean)
	}
}
