package wire

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/load"
)

// script returns the snapshots one after the other, and repeats the last one.
func script(states ...load.Received) func() (load.Received, error) {
	calls := 0
	return func() (load.Received, error) {
		r := states[min(calls, len(states)-1)]
		calls++
		return r, nil
	}
}

// TestFinishWaitsForTheEndAndForQuiet uses a fake clock, so that the load of the machine does not matter.
func TestFinishWaitsForTheEndAndForQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		none, zero := load.Received{RxPackets: 5}, uint64(0)
		closed := func(n uint64) load.Received { return load.Received{RxPackets: n, Lost: &zero} }
		// Frames still arrive after the end of the stream.
		snapshot := script(none, none, closed(7), closed(8), closed(9), closed(10))
		begun := time.Now()
		got, err := Finish(context.Background(), snapshot, time.Minute)
		if err != nil || got.RxPackets != 10 || got.Lost == nil {
			t.Errorf("%+v, %v", got, err)
		}
		if took, last := time.Since(begun), 5*quiet/4; took != last+quiet {
			t.Errorf("final after %v: the last frame arrived after %v, and quiet is %v", took, last, quiet)
		}
		// The end never arrives: Finish returns the account when its timeout is over.
		snapshot = script(none)
		if got, err := Finish(context.Background(), snapshot, 30*time.Millisecond); err != nil || got.Lost != nil || got.RxPackets != 5 {
			t.Errorf("without an end: %+v, %v", got, err)
		}
	})
}

func TestFinishEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	snapshot := script(load.Received{RxPackets: 3})
	if got, err := Finish(ctx, snapshot, time.Minute); !errors.Is(err, context.Canceled) || got.RxPackets != 3 {
		t.Errorf("interrupted: %+v, %v", got, err)
	}
	broken := errors.New("broken")
	calls := 0
	_, err := Finish(context.Background(), func() (load.Received, error) {
		calls++
		if calls == 3 {
			return load.Received{}, broken
		}
		return load.Received{}, nil
	}, time.Minute)
	if !errors.Is(err, broken) {
		t.Errorf("a snapshot that fails: %v", err)
	}
}
