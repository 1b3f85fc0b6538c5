package tune

import "testing"

// TestHadamard: rows and columns of every order that the constructions reach are
// orthogonal, and those orders are all that were promised.
func TestHadamard(t *testing.T) {
	missing := map[int]bool{52: true, 92: true, 100: true, 116: true}
	for n := 4; n <= maxOrder; n += 4 {
		h := hadamard(n)
		if (h == nil) != missing[n] {
			t.Errorf("order %d: built %v", n, h != nil)
			continue
		}
		for i := range h {
			if h[i][0] != 1 {
				t.Fatalf("order %d: row %d begins with %d", n, i, h[i][0])
			}
			for j := range i {
				sum := 0
				for k := range h {
					if v := h[i][k]; v != 1 && v != -1 {
						t.Fatalf("order %d: %d at %d, %d", n, v, i, k)
					}
					sum += int(h[i][k]) * int(h[j][k])
				}
				if sum != 0 {
					t.Fatalf("order %d: rows %d and %d are not orthogonal: %d", n, i, j, sum)
				}
			}
		}
	}
}

// TestFoldOver: in the array and its mirror every main effect is orthogonal to
// the mean, to every other, and to every two-factor interaction.
func TestFoldOver(t *testing.T) {
	for _, factors := range []int{1, 5, 11, 18, 30, 61, MaxFactors} {
		a, err := newArray(factors)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.runs) != 2*a.half || a.columns < factors+1 {
			t.Fatalf("%d factors: %d runs of %d columns", factors, len(a.runs), a.columns)
		}
		sign := func(run, col int) int {
			if a.runs[run][col] {
				return 1
			}
			return -1
		}
		step := max(1, a.columns/16)
		for i := 0; i < a.columns; i += step {
			for j := 0; j < a.columns; j += step {
				for k := j; k < a.columns; k += step {
					sum := 0
					for r := range a.runs {
						sum += sign(r, i) * sign(r, j) * sign(r, k)
					}
					if sum != 0 { // j = k is the effect against the mean
						t.Fatalf("%d factors: effect %d is mixed with %d×%d", factors, i, j, k)
					}
				}
			}
		}
	}
	for _, bad := range []int{0, MaxFactors + 1} {
		if _, err := newArray(bad); err == nil {
			t.Errorf("%d factors were taken", bad)
		}
	}
}
