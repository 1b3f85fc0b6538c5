//go:build linux || freebsd

package packetload

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"linerate/internal/load"
)

// TestTurnsThatWereDisturbed: disturbed slices do not use up the plan's time, up to as much again.
func TestTurnsThatWereDisturbed(t *testing.T) {
	const each = time.Millisecond
	for every, want := range map[int]int{0: 11, 2: 21, 1: 21, 4: 14} { // every n-th slice is disturbed; total number of slices, with the first round
		p := load.SlicePlan{Order: make([]uint8, 100), Limit: 10 * each}
		var out load.Sliced
		now, n := uint64(7), 0
		err := turns(context.Background(), p, 1, &out, func() uint64 { return now }, func(int, int, func() uint64) (one load.Slice, err error) {
			now += uint64(each)
			if n++; every > 0 && n%every == 0 {
				one.Flags |= load.Switched
			}
			return one, nil
		})
		if err != nil || len(out.Slices) != want {
			t.Errorf("every %d-th slice disturbed: %d slices of a millisecond, %v; want %d", every, len(out.Slices), err, want)
		}
	}
}

// TestTurns: lanes follow the plan's order, the first slice of each turn in the first round comes after
// the longer guard, and the run ends by its context or its time, once there are enough slices.
func TestTurns(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var did []string
	p := load.SlicePlan{Order: []uint8{0, 0, 1, 1, 1, 1, 0, 0, 0, 0}, Turn: 2, Guard: 3, Warm: 9, Limit: time.Hour,
		Before: func(lane int) error { did = append(did, fmt.Sprintf("before %d", lane)); return nil }}
	var out load.Sliced
	err := Turns(ctx, p, 2, &out, func(lane, guard int, _ func() uint64) (load.Slice, error) {
		did = append(did, fmt.Sprintf("%d:%d", lane, guard))
		if len(did) == 12 {
			cancel()
		}
		return load.Slice{Frames: 1}, nil
	})
	want := "before 0 0:9 0:3 before 1 1:9 1:3 before 1 1:3 1:3 before 0 0:3 0:3"
	if got := strings.Join(did, " "); err != nil || got != want {
		t.Errorf("%v, %s, want %s", err, got, want)
	}
	limited := load.SlicePlan{Order: make([]uint8, 9), Least: 5}
	var some load.Sliced
	if err := Turns(context.Background(), limited, 1, &some, func(_, _ int, since func() uint64) (load.Slice, error) {
		return load.Slice{At: uint32(since())}, nil
	}); err != nil || len(some.Slices) != 5 || some.Slices[4].At < some.Slices[0].At {
		t.Errorf("a plan whose time is over: %+v, %v", some, err)
	}
	if len(out.Slices) != 8 || out.Slices[2].Lane != 1 || out.Seconds <= 0 {
		t.Errorf("%+v", out)
	}
}
