package wire

import (
	"context"
	"time"

	"linerate/internal/load"
)

// Worker is what one worker of a generator sent, for its end-of-stream frames.
type Worker struct {
	Total     uint64
	NeverLeft uint64 // as load.Ending's
}

const (
	endRepeats = 5                     // of each worker's frame
	endPause   = 10 * time.Millisecond // between repeats, so that a full queue does not lose them all
)

// SendEnds closes the account of a run: repeated end-of-stream frames, at a low
// rate, under the addresses of several flows in case one is blocked. send sends
// one frame.
func SendEnds(ctx context.Context, send func([]byte) error, f *load.Framer, stamp load.Stamp, workers []Worker) error {
	repeats := endRepeats
	if n := f.Ends(); n > 0 {
		repeats = n
	}
	flows := f.Flows().Count
	for r := range repeats {
		if r > 0 {
			time.Sleep(endPause)
		}
		for i, w := range workers {
			m := load.Ending{Worker: uint16(i), Workers: uint16(len(workers)), Total: w.Total, NeverLeft: w.NeverLeft}
			if err := send(f.End((r*flows/repeats+i)%flows, stamp, m)); err != nil {
				return err
			}
			if i%8 == 7 {
				time.Sleep(400 * time.Microsecond) // 20,000 a second
			}
		}
		if ctx.Err() != nil && r >= 2 {
			break
		}
	}
	return nil
}
