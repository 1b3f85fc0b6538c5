package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestEigen: vectors are orthonormal, and multiply the matrix by their values.
func TestEigen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 5, 40} {
		a := Square(n)
		for range n / 2 { // of half the rank, as levels that never differ give
			v := make([]float64, n)
			for i := range v {
				v[i] = r.NormFloat64()
			}
			for i := range v {
				for j := range v {
					a[i][j] += v[i] * v[j] * math.Pow(10, -float64(i%3)-float64(j%3))
				}
			}
		}
		copied := Square(n)
		for i := range a {
			copy(copied[i], a[i])
		}
		values, vectors := Eigen(copied)
		for k, v := range vectors {
			for i := range a {
				product := 0.0
				for j := range a {
					product += a[i][j] * v[j]
				}
				if math.Abs(product-values[k]*v[i]) > 1e-9*(1+math.Abs(values[k])) {
					t.Fatalf("n %d: vector %d, row %d: %g, want %g", n, k, i, product, values[k]*v[i])
				}
			}
			for l, w := range vectors {
				dot, want := 0.0, 0.0
				for i := range v {
					dot += v[i] * w[i]
				}
				if k == l {
					want = 1
				}
				if math.Abs(dot-want) > 1e-10 {
					t.Fatalf("n %d: vectors %d and %d: %g", n, k, l, dot)
				}
			}
		}
	}
}

func BenchmarkEigen(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 150
	for b.Loop() {
		a := Square(n)
		for i := range a {
			for j := range a[:i+1] {
				a[i][j] = r.NormFloat64()
				a[j][i] = a[i][j]
			}
		}
		Eigen(a)
	}
}
