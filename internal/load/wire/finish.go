package wire

import (
	"context"
	"time"

	"linerate/internal/load"
)

// quiet is how long nothing may arrive before an account is final.
const quiet = 20 * time.Millisecond

// Finish implements load.Receiver's Finish: it takes snapshots until one knows
// the loss and has not changed for a while.
func Finish(ctx context.Context, snapshot func() (load.Received, error), patience time.Duration) (load.Received, error) {
	end, tick := time.Now().Add(patience), time.NewTicker(quiet/4)
	defer tick.Stop()
	last, err := snapshot()
	since := time.Now()
	for err == nil {
		if t := time.Now(); t.After(end) || last.Lost != nil && t.Sub(since) >= quiet {
			return last, nil
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-tick.C:
		}
		var r load.Received
		if r, err = snapshot(); err != nil {
			break
		}
		if r.RxPackets != last.RxPackets || r.Duplicated != last.Duplicated || r.Lost == nil {
			since = time.Now()
		}
		last = r
	}
	return last, err
}
