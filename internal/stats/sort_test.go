package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"normal":  r.NormFloat64,
		"ties":    func() float64 { return float64(r.IntN(5) - 2) },
		"extreme": func() float64 { return math.Float64frombits(r.Uint64()) },
		"equal":   func() float64 { return 7 },
		"wide": func() float64 {
			return []float64{math.Inf(1), math.Inf(-1), 0, math.MaxFloat64, 5e-324, -5e-324}[r.IntN(6)]
		},
	} {
		for _, n := range []int{0, 1, 2, radixFrom - 1, radixFrom, 5000} {
			x := make([]float64, n)
			for i := range x {
				x[i] = draw()
			}
			want := slices.Sorted(slices.Values(x))
			SortFloats(x)
			if !slices.EqualFunc(x, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
				t.Errorf("%s, %d values: not sorted as slices.Sort does", name, n)
			}
		}
	}
}

func TestInversions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		x := make([]uint64, n)
		for i := range x {
			x[i] = uint64(r.IntN(1 + n/2))
		}
		want := 0
		for i := range x {
			for j := range i {
				if x[j] > x[i] {
					want++
				}
			}
		}
		if got := inversions(x, make([]uint64, n)); got != want || !slices.IsSorted(x) {
			t.Errorf("%d values: %d inversions, want %d, sorted %t", n, got, want, slices.IsSorted(x))
		}
	}
}

// TestTrendOfZeros: both zeros are one value, a series of them has no trend.
func TestTrendOfZeros(t *testing.T) {
	x := make([]float64, 50)
	for i := range x[:25] {
		x[i] = math.Copysign(0, -1)
	}
	if got := FindTrend(x); got.P != 1 || got.Tau != 0 {
		t.Errorf("%+v", got)
	}
}
