package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCovariateAdjusted: where a covariate explains most of the scatter, the adjusted
// interval is narrower than the plain one, and both cover the truth as often as they say.
func TestCovariateAdjusted(t *testing.T) {
	const studies, pairs, effect = 200, 10, 0.04
	r := rand.New(rand.NewPCG(3, 9))
	covers, plainCovers, narrower := 0, 0, 0.0
	for i := range studies {
		d, c := make([]float64, pairs), make([]float64, pairs)
		for k := range d {
			c[k] = 0.3 * r.NormFloat64()
			d[k] = effect + 0.2*c[k] + 0.01*r.NormFloat64()
		}
		adjusted := CovariateAdjusted(d, c, 0.95, 2000, uint64(i))
		plain := Randomise(d, 2000, uint64(i)).Interval(0.95)
		if adjusted.Low <= effect && effect <= adjusted.High {
			covers++
		}
		if plain.Low <= effect && effect <= plain.High {
			plainCovers++
		}
		if !(math.Abs(adjusted.Estimate-effect) <= 0.03) {
			t.Errorf("study %d: estimate %g", i, adjusted.Estimate)
		}
		narrower += (adjusted.High - adjusted.Low) / (plain.High - plain.Low) / studies
	}
	// 95 % of 200 scatters by 1.5 %.
	if share := float64(covers) / studies; share < 0.9 || share > 0.995 {
		t.Errorf("covers %.3f", share)
	}
	if share := float64(plainCovers) / studies; share < 0.9 || share > 0.995 {
		t.Errorf("the plain interval covers %.3f", share)
	}
	if narrower > 0.4 {
		t.Errorf("the adjusted interval is %.2f of the plain one", narrower)
	}
}

// TestCovariateOfNoUse: a covariate that does not move, or too few pairs, adjust nothing.
func TestCovariateOfNoUse(t *testing.T) {
	for _, c := range [][]float64{{1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0}, {1, 2}} {
		d := []float64{1, 2, 3, 4, 5, 6, 7}[:len(c)]
		if i := CovariateAdjusted(d, c, 0.95, 100, 1); !math.IsNaN(i.Estimate) {
			t.Errorf("%v adjusts to %+v", c, i)
		}
	}
}
