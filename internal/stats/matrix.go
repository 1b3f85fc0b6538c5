package stats

import "math"

// Eigen are the eigenvalues of a symmetric matrix and its eigenvectors, which are the columns of q, by
// Jacobi's rotations. It uses a up. gonum's mat does it too, and is 2 MB of the binary.
func Eigen(a [][]float64) (values []float64, q [][]float64) {
	q = make([][]float64, len(a))
	for i := range q {
		q[i] = make([]float64, len(a))
		q[i][i] = 1
	}
	for range 50 { // as a rule ten are enough
		for i := range a {
			for j := range i {
				rotate(a, q, j, i)
			}
		}
		if diagonal(a) {
			break
		}
	}
	for i := range a {
		values = append(values, a[i][i])
	}
	return values, q
}

// rotate makes the element in row i and column j zero.
func rotate(a, q [][]float64, i, j int) {
	if a[i][j] == 0 {
		return
	}
	theta := (a[j][j] - a[i][i]) / (2 * a[i][j])
	t := math.Copysign(1, theta) / (math.Abs(theta) + math.Hypot(theta, 1))
	c := 1 / math.Hypot(t, 1)
	s := t * c
	for k := range a {
		a[k][i], a[k][j] = c*a[k][i]-s*a[k][j], s*a[k][i]+c*a[k][j]
		q[k][i], q[k][j] = c*q[k][i]-s*q[k][j], s*q[k][i]+c*q[k][j]
	}
	for k := range a {
		a[i][k], a[j][k] = c*a[i][k]-s*a[j][k], s*a[i][k]+c*a[j][k]
	}
	a[i][j], a[j][i] = 0, 0
}

// diagonal reports whether what is off the diagonal is nothing but rounding.
func diagonal(a [][]float64) bool {
	off, on := 0.0, 0.0
	for i, row := range a {
		for j, v := range row {
			if i == j {
				on += v * v
			} else {
				off += v * v
			}
		}
	}
	return off <= 1e-30*on
}
