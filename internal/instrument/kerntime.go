// Package instrument observes the kernel of this machine: CPU profiles by
// perf_event_open(2), the CPU time of the kernel measured more exactly than by the ticks of
// /proc/stat, and the processes that write sysctls. It needs neither perf(1) nor symbols of
// user programs: all user time is one frame, [user].
//
// Profiling disturbs what it observes (see lab.Profiler), so it belongs in separate runs.
// All that is opened ends with the process.
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

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" kerntime ../../bpf/kerntime.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -type write -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" sysctls ../../bpf/sysctls.bpf.c
