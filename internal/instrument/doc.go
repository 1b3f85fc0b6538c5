// Package instrument looks into the kernel of this machine: profiles of CPUs by
// perf_event_open(2), the CPU time that the kernel takes, by a better way than the ticks of
// /proc/stat, and who writes sysctls. It needs neither perf(1) nor symbols of user programs:
// time in these is one frame, [user].
//
// Profiles disturb what they watch (lab.Profiler), so they belong in separate runs.
// What is opened ends with the process.
package instrument

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" kerntime ../../bpf/kerntime.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -type write -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" sysctls ../../bpf/sysctls.bpf.c
