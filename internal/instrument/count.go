package instrument

// Count is what a counter of the CPU came to.
type Count struct {
	Event string
	// N is the count over all CPUs that were asked, scaled up where the
	// counter had to share its place with others (perf_event_open(2)).
	N float64
}

// Lack is a counter that this machine has not, and why.
type Lack struct{ Event, Why string }

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
