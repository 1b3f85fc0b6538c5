package instrument

import "time"

// KernelClock measures the CPU time of the machine's kernel better than ticks do.
type KernelClock interface {
	// Name is that of the way, as records have it.
	Name() string
	// How says what is counted of the kernel's whole time, and of interrupts alone, and how
	// exact that is.
	How() (kernel, interrupts string)
	// Read is the kernel's time on all CPUs since some moment before.
	Read() (KernelTime, error)
	Close() error
}

// KernelTime is CPU time of the kernel.
type KernelTime struct {
	All    time.Duration
	Ticked time.Duration // of it, what was counted by ticks of a clock
	// Interrupts is the time of interrupt handlers and softirqs, no part of which is by ticks.
	Interrupts time.Duration
}

// The ways, as records name them. ByTicks is what the kernel tells everybody (/proc/stat,
// kern.cp_time).
const (
	ByTracepoints = "tracepoints"
	ByTicks       = "ticks"
)
