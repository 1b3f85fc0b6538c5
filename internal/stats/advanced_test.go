package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSeries(t *testing.T) {
	near(t, "alternating", Autocorrelation([]float64{1, -1, 1, -1, 1, -1, 1, -1}, 1), -7.0/8, 1e-12)
	near(t, "effective size", EffectiveSize(100, 0.5), 100.0/3, 1e-9)
	r := rand.New(rand.NewPCG(5, 5))
	alarms := 0
	for range 2000 {
		if c := CompareSamples(Arm{"a", normal(r, 12, 100)}, []Arm{{"b", []float64{1, 2, 1, 2, 1}}}, Options{})[0]; has(c, Drift) {
			alarms++
		}
	}
	if alarms > 40 || alarms < 8 {
		t.Errorf("%d of 2000 steady series drift at 1 %%", alarms)
	}
}

// TestSequentialBoundaries checks tabulated critical values: O'Brien–Fleming-type spending at five equal
// looks (Lan & DeMets 1983; e.g. Proschan, Lan & Wittes 2006, table 5.1).
func TestSequentialBoundaries(t *testing.T) {
	s, err := NewSequential([]int{4, 8, 12, 16, 20}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{4.877, 3.357, 2.680, 2.290, 2.031} {
		near(t, "O'Brien–Fleming z", NormalQuantile(1-s.Levels[k]/2), want, 0.015)
	}
	one, _ := NewSequential([]int{10}, 0.05)
	near(t, "one look", one.Levels[0], 0.05, 2e-4)
	for _, bad := range [][]int{nil, {2, 5}, {5, 4}, {5, 5}} {
		if _, err := NewSequential(bad, 0.05); err == nil {
			t.Errorf("looks %v accepted", bad)
		}
	}
}

// TestSequentialErrorRate: planned looks keep the false-positive rate with Student's t from five blocks on,
// and effects stop studies early.
func TestSequentialErrorRate(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	plan, err := NewSequential([]int{5, 8, 12, 16, 20}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	study := func(effect float64) (verdict Verdict, n int) {
		d := normal(r, 20, effect)
		for look, n := range plan.Looks {
			c := Comparison{Scale: LogRatio, Effect: OneSample(d[:n], 0.95)}
			if c, stop := plan.Settle(c, look, Options{Better: HigherIsBetter}); stop {
				return c.Verdict, n
			}
		}
		return Invalid, 0
	}
	wrong, reps := 0, 6000
	for range reps {
		if v, _ := study(0); v != Inconclusive {
			wrong++
		}
	}
	if p := float64(wrong) / float64(reps); p < 0.035 || p > 0.06 {
		t.Errorf("false positives %.4f, want 0.05", p)
	}
	blocks, found := 0, 0
	for range 500 {
		v, n := study(1)
		blocks += n
		if v == Better {
			found++
		}
	}
	if found < 450 || blocks > 500*15 {
		t.Errorf("an effect of one SD: found %d of 500 in %.1f blocks on average", found, float64(blocks)/500)
	}
}

func TestSettleEquivalence(t *testing.T) {
	plan, _ := NewSequential([]int{5, 10}, 0.05)
	control := Arm{"a", []float64{100, 101, 99, 100, 100}}
	same := Arm{"b", []float64{100.01, 101, 99.01, 99.99, 100}}
	opt := Options{MarginPercent: 1}
	c := CompareBlocks(control, []Arm{same}, opt)[0]
	if c, stop := plan.Settle(c, 0, opt); !stop || c.Verdict != Equivalent {
		t.Errorf("%s, stop %v", c.Verdict, stop)
	}
	noisy := Arm{"c", []float64{120, 85, 99, 130, 100}}
	c = CompareBlocks(control, []Arm{noisy}, opt)[0]
	if _, stop := plan.Settle(c, 0, opt); stop {
		t.Error("an undecided comparison must not stop the study")
	}
	if _, stop := plan.Settle(c, 1, opt); !stop {
		t.Error("the last look must end the study")
	}
	if !slices.IsSorted(plan.Looks) {
		t.Error("looks")
	}
}

func TestNumbers(t *testing.T) {
	for want, idx := range map[string][]int{"block 1": {0}, "blocks 1, 3": {0, 2}} {
		if got := numbers("block", idx); got != want {
			t.Errorf("%v is shown as %q, want %q", idx, got, want)
		}
	}
}
