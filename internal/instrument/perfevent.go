package instrument

import "time"

// RecordOptions of a recording.
type RecordOptions struct {
	CPUs []int         // CPUs to sample; empty: all online
	Time time.Duration // how long
	// Hertz is samples per second of each CPU; a number off the round
	// ones does not step with the kernel's timers.
	Hertz int
	// Ready, if not nil, is called once sampling has begun.
	Ready func()
}

const (
	leastHertz = 1
	mostHertz  = 20_000
	mostTime   = time.Hour
)

// Reading is what a counter has come to: Value in the time Running, of the time Enabled
// (both in nanoseconds) in which it should have run. They differ where counters have to
// take turns.
type Reading struct{ Value, Enabled, Running uint64 }

// Since is what was counted since an earlier reading, scaled up by the share of the time
// that the counter ran; 0 of one that never did.
func (r Reading) Since(before Reading) float64 {
	if r.Running <= before.Running || r.Value < before.Value {
		return 0
	}
	return float64(r.Value-before.Value) * float64(r.Enabled-before.Enabled) / float64(r.Running-before.Running)
}
