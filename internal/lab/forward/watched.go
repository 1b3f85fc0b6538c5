package forward

import (
	"context"
	"fmt"
	"maps"
	"math"

	"linerate/internal/drop"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// dropWatch counts frames dropped while traffic runs.
type dropWatch struct {
	read   func() (drop.Counters, error)
	before drop.Counters
}

// watchDrops takes the first reading.
func watchDrops(read func() (drop.Counters, error)) (*dropWatch, error) {
	before, err := read()
	if err != nil {
		return nil, fmt.Errorf("read where frames were dropped: %w", err)
	}
	return &dropWatch{read, before}, nil
}

// since returns the counts since the first reading; nil if drops are not counted.
func (w *dropWatch) since() (drop.Counters, error) {
	if w.before == nil {
		return nil, nil
	}
	after, err := w.read()
	if err != nil {
		return nil, fmt.Errorf("read where frames were dropped: %w", err)
	}
	return after.Since(w.before), nil
}

// into adds the counts since the first reading to an observation.
func (w *dropWatch) into(o *study.Observation) error {
	died, err := w.since()
	if died != nil { // else drops are not counted
		o.Drops = o.Drops.Plus(died)
	}
	return err
}

// telemetry starts watching the DUT's own counters, if it has any; tell ends
// it. A DUT that does not answer afterwards has no telemetry.
func telemetry(ctx context.Context, b testbed.Bed, machines bool, o *study.Observation) (tell func(), err error) {
	o.Machines = machines
	o.Uncounted = b.Describe().Kind == testbed.KindPorts
	bed, ok := b.(testbed.Telemeter)
	if !ok {
		return func() {}, nil
	}
	before, err := bed.Telemetry(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what the DUT says of itself: %w", err)
	}
	return func() {
		if after, err := bed.Telemetry(ctx); err == nil {
			o.DUT = after.Since(before)
			maps.DeleteFunc(o.DUT, func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) // sensors may report them; JSON cannot represent them
		}
	}, nil
}
