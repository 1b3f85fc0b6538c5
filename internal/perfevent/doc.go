// Package perfevent takes profiles of a running Linux kernel: it samples CPUs
// through perf_event_open(2) and names the functions by /proc/kallsyms. It
// needs neither perf(1) nor symbols of user programs, whose frames it leaves
// out; time in them is one frame, [user].
package perfevent

import "time"

// Options of a recording.
type Options struct {
	CPUs []int         // CPUs to sample; empty: all online
	Time time.Duration // how long
	// Hertz is samples per second of each CPU; a number beside the round
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
