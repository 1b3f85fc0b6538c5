package instrument

import "time"

// KernelClock measures the CPU time of the kernel more exactly than ticks do.
type KernelClock interface {
	// Name returns the name of the method, as used in records.
	Name() string
	// How describes what is counted of the whole kernel's time and of interrupts alone, and
	// how exact that is.
	How() (kernel, interrupts string)
	// Read returns the kernel's time on all CPUs since an arbitrary moment.
	Read() (KernelTime, error)
	Close() error
}

// KernelTime is CPU time spent in the kernel.
type KernelTime struct {
	All    time.Duration
	Ticked time.Duration // part of All that is counted by clock ticks
	// Interrupts is the time of interrupt handlers and softirqs, none of it counted by ticks.
	Interrupts time.Duration
}

// Names of the methods in records. ByTicks is the accounting that every kernel offers
// (/proc/stat, kern.cp_time).
const (
	ByTracepoints = "tracepoints"
	ByTicks       = "ticks"
)
