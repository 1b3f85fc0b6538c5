package membench

import (
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"linerate/internal/hint"
)

// TestOptions are refused beyond their bounds, not at them.
func TestOptions(t *testing.T) {
	good := Options{Size: leastSize, Time: time.Millisecond, Rounds: 1}
	for what, c := range map[string]struct {
		change func(*Options)
		ok     bool
	}{
		"the least":          {func(*Options) {}, true},
		"the most":           {func(o *Options) { o.Size, o.Time, o.Rounds = mostSize, time.Minute, 1000 }, true},
		"a smaller one":      {func(o *Options) { o.Size-- }, false},
		"a larger one":       {func(o *Options) { o.Size = mostSize + 1 }, false},
		"no round":           {func(o *Options) { o.Rounds = 0 }, false},
		"many rounds":        {func(o *Options) { o.Rounds = 1001 }, false},
		"no time":            {func(o *Options) { o.Time-- }, false},
		"a long time":        {func(o *Options) { o.Time = time.Minute + 1 }, false},
		"fewer than no core": {func(o *Options) { o.Cores = -1 }, false},
	} {
		o := good
		c.change(&o)
		if err := o.check(); (err == nil) != c.ok || err != nil && !hint.IsUsage(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 3}, 2.5}} {
		if got := median(slices.Clone(c.v)); got != c.want {
			t.Errorf("median of %v: %g", c.v, got)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("nothing has a median")
	}
	// An ordinary byte crosses the bus three times, a streaming one twice: the faster copy need not be the busier.
	r := Result{Rows: []Row{{Cores: 1, Kind: Ordinary, Traffic: 30}, {Cores: 2, Kind: Streaming, Traffic: 28}}}
	if r.Busiest().Cores != 1 || Ordinary.Crossings() != 3 || Streaming.Crossings() != 2 {
		t.Errorf("%+v", r.Busiest())
	}
	for n, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 8: {1, 2, 4, 8}, 12: {1, 2, 4, 8, 12}} {
		if got := steps(n); !slices.Equal(got, want) {
			t.Errorf("steps to %d: %v", n, got)
		}
	}
	for range 20 {
		if b := aligned(100); uintptr(unsafe.Pointer(&b[0]))%line != 0 || len(b) != 100 || cap(b) != 100 {
			t.Fatalf("%p of %d bytes, room for %d", &b[0], len(b), cap(b))
		}
	}
	on := cpus()
	if len(on) == 0 || !slices.IsSorted(on) || len(slices.Compact(slices.Clone(on))) != len(on) {
		t.Errorf("CPUs %v", on)
	}
}
