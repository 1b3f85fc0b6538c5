package tune

import (
	"fmt"
	"sync"

	"linerate/internal/hint"
)

// MaxFactors is how many settings one array takes: placebo and mean have a
// column each of the largest array.
const MaxFactors = maxOrder - 2

const maxOrder = 128

// hadamard is a Hadamard matrix of an order, as signs, its first column all
// +1; nil where the constructions know none: Sylvester's doubling, and Paley's
// first and second over a prime (J. Math. Phys. 12, 1933). Up to 128 that is every
// multiple of four but 52, 92, 100 and 116.
func hadamard(n int) [][]int8 {
	switch {
	case n == 1:
		return [][]int8{{1}}
	case n == 2 || n%4 == 0 && prime(n-1) || n%4 == 0 && prime(n/2-1) && n/2%4 == 2:
		return normalised(paley(n))
	case n%4 == 0:
		if half := hadamard(n / 2); half != nil {
			return doubled(half)
		}
	}
	return nil
}

// order is the smallest order of a known array with at least so many columns.
func order(columns int) int {
	for n := max(8, (columns+3)/4*4); n <= maxOrder; n += 4 {
		if hadamard(n) != nil {
			return n
		}
	}
	return 0
}

func prime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

func doubled(h [][]int8) [][]int8 {
	n := len(h)
	out := square(2 * n)
	for i := range out {
		for j := range out {
			v := h[i%n][j%n]
			if i >= n && j >= n {
				v = -v
			}
			out[i][j] = v
		}
	}
	return out
}

func square(n int) [][]int8 {
	out := make([][]int8, n)
	for i := range out {
		out[i] = make([]int8, n)
	}
	return out
}

// paley is Paley's first construction where n−1 is a prime that is 3 modulo 4,
// else the second, where n/2−1 is one that is 1 modulo 4. Order 2 is [1 1; 1 −1].
func paley(n int) [][]int8 {
	if n == 2 {
		return [][]int8{{1, 1}, {1, -1}}
	}
	if prime(n - 1) {
		s := conference(n-1, -1)
		for i := range s {
			s[i][i]++ // S + I
		}
		return s
	}
	s := conference(n/2-1, 1)
	out := square(n)
	for i := range s {
		for j, v := range s[i] {
			// 0 becomes [1 −1; −1 −1], ±1 becomes ±[1 1; 1 −1].
			block := [2][2]int8{{v, v}, {v, -v}}
			if v == 0 {
				block = [2][2]int8{{1, -1}, {-1, -1}}
			}
			for a := range 2 {
				for b := range 2 {
					out[2*i+a][2*j+b] = block[a][b]
				}
			}
		}
	}
	return out
}

// conference is the bordered Jacobsthal matrix of a prime q: zeros on the
// diagonal, the quadratic character of i−j elsewhere, and a border of ones whose
// column has the sign given.
func conference(q int, border int8) [][]int8 {
	chi := make([]int8, q)
	for i := 1; i < q; i++ {
		chi[i] = -1
	}
	for i := 1; i < q; i++ {
		chi[i*i%q] = 1
	}
	out := square(q + 1)
	for i := 1; i <= q; i++ {
		out[0][i], out[i][0] = 1, border
		for j := 1; j <= q; j++ {
			out[i][j] = chi[((i-j)%q+q)%q]
		}
	}
	return out
}

// normalised has +1 throughout its first column.
func normalised(h [][]int8) [][]int8 {
	for _, row := range h {
		if row[0] < 0 {
			for j := range row {
				row[j] = -row[j]
			}
		}
	}
	return h
}

// array is a two-level screening design: runs by factor columns, true at the
// level tried. Run i and run i+half mirror each other (fold-over), so that main
// effects are clear of two-factor interactions (resolution IV; Box & Wilson,
// J. R. Statist. Soc. B 13, 1951). Columns after the factors' are placebos.
type array struct {
	half    int
	columns int
	runs    [][]bool
}

// arrays are built once each.
var arrays sync.Map

// arrayFor is newArray, remembered.
func arrayFor(factors int) (array, error) {
	if a, ok := arrays.Load(factors); ok {
		return a.(array), nil
	}
	a, err := newArray(factors)
	if err == nil {
		arrays.Store(factors, a)
	}
	return a, err
}

// newArray is the smallest array for so many factors and one placebo at least.
func newArray(factors int) (array, error) {
	n := order(factors + 2)
	if factors < 1 || n == 0 {
		return array{}, hint.With(hint.Usagef("%d settings: a search takes 1 to %d", factors, MaxFactors), "leave some out, or name those of interest")
	}
	h := hadamard(n)
	a := array{half: n, columns: n - 1}
	for fold := range 2 {
		for _, row := range h {
			run := make([]bool, a.columns)
			for j := range run {
				run[j] = (row[j+1] > 0) != (fold == 1)
			}
			a.runs = append(a.runs, run)
		}
	}
	return a, nil
}

// String says how large the array is.
func (a array) String() string { return fmt.Sprintf("%d + %d configurations", a.half, a.half) }
