package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFindOutliers(t *testing.T) {
	if got := FindOutliers([]float64{10, 11, 9, 10.5, 9.5, 10.2, 40}); !slices.Equal(got, []int{6}) {
		t.Errorf("%v", got)
	}
	if got := FindOutliers([]float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 50}); !slices.Equal(got, []int{20}) {
		t.Errorf("with a MAD of zero: %v", got)
	}
	if got := FindOutliers([]float64{5, 5, 5, 5}); got != nil {
		t.Errorf("equal values: %v", got)
	}
}

// Normal samples of any size are flagged about once in a hundred.
func TestOutlierLimitLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 8, 10, 20, 50, 300} {
		flagged, reps := 0, 4000
		for range reps {
			if len(FindOutliers(normal(r, n, 0))) > 0 {
				flagged++
			}
		}
		if p := float64(flagged) / float64(reps); p < 0.003 || p > 0.025 {
			t.Errorf("n = %d: %.3f of normal samples flagged, want about 0.01", n, p)
		}
	}
}
