package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// series is Gaussian with an SD of 1; each value is moved by what at returns.
func series(n int, at func(i int) float64) []float64 {
	r := rand.New(rand.NewPCG(6, 6))
	y := make([]float64, n)
	for i := range y {
		y[i] = r.NormFloat64() + at(i)
	}
	return y
}

func TestWatch(t *testing.T) {
	for _, c := range []struct {
		what  string
		y     []float64
		steps []float64 // sizes
	}{
		{"nothing", nil, nil},
		{"one value", []float64{1}, nil},
		{"constant", make([]float64, 100), nil},
		{"noise", series(500, func(int) float64 { return 0 }), nil},
		{"a step", series(150, func(i int) float64 { return 4 * float64(min(1, i/80)) }), []float64{4}},
		{"up and down", series(300, func(i int) float64 { return 4 * float64(i/80%2) }), []float64{4, -4, 4}},
		{"a step after too few nights", series(44, func(i int) float64 { return 9 * float64(min(1, i/30)) }), nil},
		{"four odd nights", series(120, func(i int) float64 {
			if i%25 == 20 {
				return 6
			}
			return 0
		}), nil},
	} {
		got := Watch(c.y)
		if len(got.Steps) != len(c.steps) {
			t.Errorf("%s: %+v", c.what, got.Steps)
			continue
		}
		for i, s := range got.Steps {
			if !s.Size.Contains(c.steps[i]) || math.Abs(float64(s.At-80*(i+1))) > 1 || s.Seen < s.At+leastAfter-2 || s.Seen > s.At+20 {
				t.Errorf("%s: step %d: %+v", c.what, i, s)
			}
		}
	}
}

// TestWatchEachNight: looking every night finds what one look at the end does.
func TestWatchEachNight(t *testing.T) {
	y := series(260, func(i int) float64 { return 3 * float64(i/90%2) })
	all := Watch(y).Steps
	for n := range y {
		var seen, later []int
		for _, s := range Watch(y[:n]).Steps {
			seen = append(seen, s.Seen)
		}
		for _, s := range all {
			if s.Seen < n {
				later = append(later, s.Seen)
			}
		}
		if !slices.Equal(seen, later) {
			t.Fatalf("after %d nights steps are seen at %v, at the end at %v", n, seen, later)
		}
	}
}

func TestNights(t *testing.T) {
	calm := Watch(series(100, func(int) float64 { return 0 }))
	if small, large := calm.Nights(1.5), calm.Nights(4); large < leastAfter || small <= large || small > 60 {
		t.Errorf("nights until 1.5 and 4 standard deviations show: %d, %d", small, large)
	}
	if n := calm.Nights(0.1); n != 0 {
		t.Errorf("a tenth of a standard deviation shows after %d nights", n)
	}
}
