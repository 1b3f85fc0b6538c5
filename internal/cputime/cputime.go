// Package cputime reads where the time of this machine's CPUs goes: what the
// hypervisor takes (steal), how long threads wait for their CPU, and what the
// kernel's own threads do (proc(5), Documentation/scheduler/sched-stats.rst).
package cputime

import "time"

// Sched is what the scheduler knows of a thread since it began.
type Sched struct {
	Ran    time.Duration // on a CPU
	Waited time.Duration // ready to run while others ran
	Slices uint64        // how often it was given a CPU
}
