//go:build linux || freebsd

package packetload

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
//
// Slices that other work had a part in do not count, and so their time is no part
// of the plan's, as long as a run takes no more than twice that: with other
// programs running they are half of all, and intervals as much wider.
func Turns(ctx context.Context, p load.SlicePlan, lanes int, out *load.Sliced, slice func(lane, guard int, since func() uint64) (load.Slice, error)) error {
	return turns(ctx, p, lanes, out, wire.NewClock().Now, slice)
}

// turns is Turns by a clock.
func turns(ctx context.Context, p load.SlicePlan, lanes int, out *load.Sliced, now func() uint64, slice func(lane, guard int, since func() uint64) (load.Slice, error)) error {
	start, turn := now(), max(1, p.Turn)
	since := func() uint64 { return now() - start }
	warmed, disturbed, round := uint64(0), uint64(0), turn*lanes
	for i, lane := range p.Order {
		if i == round {
			warmed = since()
		}
		spent := since() - warmed
		if p.Over(i, round, time.Duration(max(spent-disturbed, spent/2))) || ctx.Err() != nil {
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
		begun := since()
		one, err := slice(int(lane), guard, since)
		if err != nil {
			return err
		}
		if one.Flags&load.Switched != 0 && i >= round {
			disturbed += since() - begun
		}
		one.Lane = int(lane)
		out.Slices = append(out.Slices, one)
	}
	out.Seconds = float64(since()) / 1e9
	return nil
}
