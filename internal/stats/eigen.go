package stats

import "math"

// Square returns a matrix of zeros.
func Square(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
	}
	return rows
}

// Eigen returns the eigenvalues of a symmetric matrix, and the eigenvector of each, by Jacobi's rotations
// (Golub & Van Loan, Matrix Computations, section 8.5). It overwrites the matrix. A library of linear algebra
// would add 2 MB to the binary, and the matrices here have some dozens of columns.
func Eigen(a [][]float64) (values []float64, vectors [][]float64) {
	values, vectors = make([]float64, len(a)), Square(len(a))
	for i := range a {
		vectors[i][i] = 1
	}
	for turns := 0; turns < 30 && !diagonal(a); turns++ {
		for q := range a {
			for p := range q {
				rotate(a, vectors, p, q)
			}
		}
	}
	for i := range a {
		values[i] = a[i][i]
	}
	return values, vectors
}

// diagonal reports whether what is off the diagonal is less than rounding.
func diagonal(a [][]float64) bool {
	on, off := 0.0, 0.0
	for i, row := range a {
		for _, v := range row[:i] {
			off += v * v
		}
		on += row[i] * row[i]
	}
	return off <= 1e-32*on
}

// rotate turns the axes p and q so that their element off the diagonal becomes 0.
func rotate(a, vectors [][]float64, p, q int) {
	if a[p][q] == 0 {
		return
	}
	theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
	t := math.Copysign(1, theta) / (math.Abs(theta) + math.Hypot(theta, 1))
	c := 1 / math.Hypot(t, 1)
	s := t * c
	for _, row := range a {
		x, y := row[p], row[q]
		row[p], row[q] = c*x-s*y, s*x+c*y
	}
	ap, aq, vp, vq := a[p][:len(a)], a[q][:len(a)], vectors[p][:len(a)], vectors[q][:len(a)]
	for k, x := range ap {
		y, v, w := aq[k], vp[k], vq[k]
		ap[k], aq[k] = c*x-s*y, s*x+c*y
		vp[k], vq[k] = c*v-s*w, s*v+c*w
	}
}
