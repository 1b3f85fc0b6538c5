package forward

import (
	"context"
	"fmt"
	"maps"
	"math"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// telemetry begins to watch what the DUT's own counters say, where it has some
// to read; tell ends it. A DUT that will not tell afterwards has no telemetry.
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
			maps.DeleteFunc(o.DUT, func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) // a sensor may say so; JSON cannot
		}
	}, nil
}
