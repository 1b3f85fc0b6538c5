//go:build linux || freebsd

package sender

import (
	"context"
	"time"

	"linerate/internal/load"
	"linerate/internal/load/wire"
)

// Turns goes through a plan's slices in order, for engines whose slices are
// sent from user space. slice sends one over a lane, after a guard of so many
// frames; since is the time from the start of the run, in ns. What was sent is
// in out, however the run ends; a context that ends it is no error.
func Turns(ctx context.Context, p load.SlicePlan, lanes int, out *load.Sliced, slice func(lane, guard int, since func() uint64) (load.Slice, error)) error {
	clock := wire.NewClock()
	start, turn := clock.Now(), max(1, p.Turn)
	since := func() uint64 { return clock.Now() - start }
	warmed, round := uint64(0), turn*lanes
	for i, lane := range p.Order {
		if i == round {
			warmed = since()
		}
		if p.Over(i, round, time.Duration(since()-warmed)) || ctx.Err() != nil {
			break
		}
		if p.Before != nil && i%turn == 0 {
			if err := p.Before(int(lane)); err != nil {
				return err
			}
		}
		guard := p.Guard
		if i%turn == 0 && i < round {
			guard = p.Warm
		}
		one, err := slice(int(lane), guard, since)
		if err != nil {
			return err
		}
		one.Lane = int(lane)
		out.Slices = append(out.Slices, one)
	}
	out.Seconds = float64(since()) / 1e9
	return nil
}
