package forward

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// talking is a bed whose DUT returns fixed telemetry except for one growing counter.
type talking struct {
	testbed.Bed
	times *int
}

func (talking) Describe() testbed.Description { return testbed.Description{} }

func (b talking) Telemetry(context.Context) (testbed.Telemetry, error) {
	*b.times++
	return testbed.Telemetry{Counters: map[string]float64{"drops": 7 * float64(*b.times), "odd": math.NaN(), "endless": math.Inf(1)},
		Gauges: map[string]float64{"cpu0_celsius": 40, "cpu1_celsius": math.NaN(), "cpu2_celsius": math.Inf(-1)}}, nil
}

// TestWhatIsNoNumberIsNotRecorded: whatever telemetry a DUT returns, the trial can be written as JSON.
func TestWhatIsNoNumberIsNotRecorded(t *testing.T) {
	var o study.Observation
	tell, err := telemetry(t.Context(), talking{times: new(int)}, false, &o)
	if err != nil {
		t.Fatal(err)
	}
	tell()
	if _, err := json.Marshal(o); err != nil || len(o.DUT) != 2 || o.DUT["drops"] != 7 || o.DUT["cpu0_celsius"] != 40 {
		t.Errorf("%v, %v", o.DUT, err)
	}
}
