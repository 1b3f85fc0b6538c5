// Package cputime reads how the CPUs of this machine spend their time: what
// the hypervisor takes (steal), how long threads wait for a CPU, and what
// kernel threads use (proc(5), Documentation/scheduler/sched-stats.rst).
package cputime

import "time"

// Sched holds the scheduler's counters of a thread since its start.
type Sched struct {
	Ran    time.Duration // on a CPU
	Waited time.Duration // runnable, waiting for a CPU
	Slices uint64        // times it was scheduled onto a CPU
}
