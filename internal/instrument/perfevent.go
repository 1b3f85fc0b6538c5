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
