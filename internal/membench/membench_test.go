package membench

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"linerate/internal/hint"
)

// TestCopiers: whole lines arrive, and nothing beside them is touched.
func TestCopiers(t *testing.T) {
	for _, k := range kinds {
		for _, n := range []int{0, 63, 64, 128, 4096 + 7, 1 << 20} {
			src, dst := aligned(1<<20+line), aligned(1<<20+line)
			for i := range dst {
				dst[i] = 0xee
			}
			copier(k)(dst[:n], src[1:n+1]) // the source need not be aligned
			whole := n
			if len(kinds) > 1 {
				whole = n &^ (line - 1)
			}
			if !bytes.Equal(dst[:whole], src[1:whole+1]) {
				t.Errorf("%s of %d bytes: they differ", k, n)
			}
			if !bytes.Equal(dst[whole:], bytes.Repeat([]byte{0xee}, len(dst)-whole)) {
				t.Errorf("%s of %d bytes wrote past its end", k, n)
			}
		}
	}
}

func TestRun(t *testing.T) {
	r, err := Run(t.Context(), Options{Size: 1 << 20, Time: 2 * time.Millisecond, Rounds: 2, Cores: 1}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != len(kinds) {
		t.Fatalf("rows %+v", r.Rows)
	}
	for _, row := range r.Rows {
		if len(row.Rates) != 2 || row.Median <= 0 || row.Traffic != row.Median*row.Kind.Crossings() {
			t.Errorf("row %+v", row)
		}
	}
	if most := r.Busiest(); most.Traffic < r.Rows[0].Traffic {
		t.Errorf("busiest %+v", most)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ended, Options{Size: 1 << 20, Time: time.Minute, Rounds: 1}, func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := Run(t.Context(), Options{Size: 1, Time: time.Second, Rounds: 1}, nil); !hint.IsUsage(err) {
		t.Errorf("a buffer of a byte: %v", err)
	}
}

func TestSteps(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 6: 4, 8: 4} {
		if got := steps(n); len(got) != want || got[len(got)-1] != n {
			t.Errorf("steps of %d: %v", n, got)
		}
	}
}
