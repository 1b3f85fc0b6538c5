package perfevent

// Count is what a counter of the CPU came to.
type Count struct {
	Event string
	// N is the count over all CPUs that were asked, scaled up where the
	// counter had to share its place with others (perf_event_open(2)).
	N float64
}

// Lack is a counter that this machine has not, and why.
type Lack struct{ Event, Why string }
