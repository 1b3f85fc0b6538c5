//go:build linux || freebsd

package packetload

import (
	"context"
	"time"

	"linerate/internal/load"
	"linerate/internal/load/wire"
)

// Turns runs a plan's slices in order, for engines that send from user space.
// slice sends one slice over a lane, after guard frames; since returns the
// time since the start of the run, in ns. out records what was sent, however
// the run ends; the end of a context is not an error.
//
// Slices that were disturbed by other work do not count, so their time is not part of
// the plan's, as long as the run takes no more than twice that: with other programs
// running half of all slices are disturbed, which would widen intervals.
func Turns(ctx context.Context, p load.SlicePlan, lanes int, out *load.Sliced, slice func(lane, guard int, since func() uint64) (load.Slice, error)) error {
	return turns(ctx, p, lanes, out, wire.NewClock().Now, slice)
}

// turns implements Turns with a given clock.
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
