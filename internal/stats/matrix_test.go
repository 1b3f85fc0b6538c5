package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestEigen: a matrix times an eigenvector is the vector times its value, the vectors are
// orthonormal, and what depends on others has the value 0.
func TestEigen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 30
	a, used := make([][]float64, n), make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	for range n - 1 { // of rank n − 1
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		for i := range a {
			for j := range a {
				a[i][j] += v[i] * v[j]
			}
		}
	}
	for i := range a {
		used[i] = append([]float64(nil), a[i]...)
	}
	values, q := Eigen(used)
	least := math.Inf(1)
	for k := range n {
		least = min(least, math.Abs(values[k]))
		for i := range n {
			av, qq := 0.0, 0.0
			for j := range n {
				av, qq = av+a[i][j]*q[j][k], qq+q[j][i]*q[j][k]
			}
			one := 0.0
			if i == k {
				one = 1
			}
			if math.Abs(av-values[k]*q[i][k]) > 1e-11 || math.Abs(qq-one) > 1e-13 {
				t.Fatalf("vector %d, row %d: %g for %g; %g for %g", k, i, av, values[k]*q[i][k], qq, one)
			}
		}
	}
	if least > 1e-11 {
		t.Errorf("the least value is %g", least)
	}
}
