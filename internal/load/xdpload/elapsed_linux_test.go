package xdpload

import (
	"math"
	"testing"
	"time"

	"linerate/internal/load"
)

// TestElapsed: a worker's time and unsent frames, from its program's counters: set-up, delays of a tick,
// and a deadline that passed do not count.
func TestElapsed(t *testing.T) {
	const start, ms = uint64(1_000_000_000), uint64(time.Millisecond)
	every := uint64(65536e9 / 1e6) // a million frames a second
	for name, c := range map[string]struct {
		s       generateGenerateState
		c       generateGenerateControl
		seconds float64
		unsent  uint64
	}{
		"not begun":               {generateGenerateState{Now: start + ms}, generateGenerateControl{Start: start}, 0, 0},
		"before its start":        {generateGenerateState{Began: 1, Now: start - 1}, generateGenerateControl{Start: start, Limit: math.MaxUint64}, 0, 0},
		"as fast as it goes":      {generateGenerateState{Began: 1, Now: start + 5*ms, Sent: 7}, generateGenerateControl{Start: start, Limit: math.MaxUint64}, 0.005, 0},
		"done a bit late":         {generateGenerateState{Began: 1, Done: 1, Now: start + 9*ms, Ended: start + 6*ms}, generateGenerateControl{Start: start, Deadline: start + 5*ms, Limit: math.MaxUint64}, 0.005, 0},
		"stopped by a user":       {generateGenerateState{Began: 1, Done: 1, Ended: start + 6*ms}, generateGenerateControl{Start: start, Deadline: 1, Limit: math.MaxUint64}, 0.006, 0},
		"on its pace":             {generateGenerateState{Began: 1, Now: start + 5*ms, Sent: 5000, Due: 5000 * every}, generateGenerateControl{Start: start, Interval: every, Limit: math.MaxUint64}, 0.005, 0},
		"a thousand behind":       {generateGenerateState{Began: 1, Now: start + 5*ms, Sent: 4000, Due: 4000 * every}, generateGenerateControl{Start: start, Interval: every, Limit: math.MaxUint64}, 0.005, 1000},
		"a limit bounds it":       {generateGenerateState{Began: 1, Now: start + 5*ms, Sent: 4000, Due: 4000 * every}, generateGenerateControl{Start: start, Interval: every, Limit: 4100}, 0.005, 100},
		"the last one's interval": {generateGenerateState{Began: 1, Done: 1, Ended: start + 5*ms - 500, Sent: 5000, Due: 5000 * every}, generateGenerateControl{Start: start, Interval: every, Limit: 5000}, 0.005, 0},
	} {
		seconds, unsent := (&worker{}).elapsed(c.s, c.c)
		if math.Abs(seconds-c.seconds) > 1e-9 || unsent != c.unsent {
			t.Errorf("%s: %g s and %d unsent, want %g and %d", name, seconds, unsent, c.seconds, c.unsent)
		}
	}
}

// TestBatches: paced runs have small batches, and those whose far end is on another CPU large ones.
func TestBatches(t *testing.T) {
	for _, c := range []struct {
		large  bool
		target float64
		want   uint32
	}{{false, 0, batch}, {true, 0, largeBatch}, {false, 1e6, pacedBatch}, {true, 1e6, pacedBatch}} {
		if got := (&Generator{large: c.large}).batch(transmission{target: c.target}); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if pacedBatch > batch || batch > largeBatch || largeBatch > 256 { // the kernel's most
		t.Errorf("batches of %d, %d and %d", pacedBatch, batch, largeBatch)
	}
	b := make([]byte, load.StampBytes)
	load.PutStamp(b, load.Stamp{Run: 4095})
	if runWord(4095) == runWord(4094) || runWord(7)>>32 != 0 || byte(runWord(4095)) != b[2] {
		t.Errorf("a run's word is %x", runWord(4095))
	}
}
