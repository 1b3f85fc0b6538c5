// Package instrument observes the kernel of this machine: CPU profiles by
// perf_event_open(2), the CPU time of the kernel measured more exactly than by the ticks of
// /proc/stat, and the processes that write sysctls. It needs neither perf(1) nor symbols of
// user programs: all user time is one frame, [user].
//
// Profiling disturbs what it observes (see lab.Profiler), so it belongs in separate runs.
// All that is opened ends with the process.
package instrument

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" kerntime ../../bpf/kerntime.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -type write -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" sysctls ../../bpf/sysctls.bpf.c
