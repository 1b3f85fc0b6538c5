package calibrate

import "testing"

// TestClaims: every claim holds on data of every shape.
func TestClaims(t *testing.T) {
	for _, r := range Table([]int{5, 10, 20}, 1500, 7) {
		if !r.Kept {
			t.Errorf("%s, %s, n = %d: %s claims %s and has %.3f false positives, coverage %v",
				r.Order, r.Shape, r.N, r.Rule, r.Claim, r.FalsePositive, r.Coverage)
		}
	}
}

func TestChecks(t *testing.T) {
	for _, c := range Checks(2000, 3) {
		t.Logf("%.4f  n=%d %s", c.Value, c.N, c.What)
		if !c.Within {
			t.Errorf("%s: %.4f is not in [%g, %g]", c.What, c.Value, c.Low, c.High)
		}
	}
}

// TestTableIsDeterministic: the same seed gives the same table.
func TestTableIsDeterministic(t *testing.T) {
	a, b := Table([]int{5}, 50, 1), Table([]int{5}, 50, 1)
	for i := range a {
		if a[i].FalsePositive != b[i].FalsePositive || a[i].Power != b[i].Power {
			t.Fatalf("%+v and %+v", a[i], b[i])
		}
	}
}
