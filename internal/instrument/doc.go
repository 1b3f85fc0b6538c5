// Package instrument looks into the kernel of this machine: profiles of CPUs by
// perf_event_open(2), their hardware counters, the kernel's reasons for dropping
// packets (the tracepoint skb:kfree_skb), and the CPU time that the kernel takes,
// by a better way than the ticks of /proc/stat. It needs neither perf(1) nor symbols
// of user programs: time in these is one frame, [user].
//
// Profiles, counters and reasons disturb what they watch (lab.Instruments): the
// program that counts drops sees every packet dropped on the machine, whatever its
// namespace. They belong in separate runs. What is opened ends with the process.
package instrument

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" drops ../../bpf/drops.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" kerntime ../../bpf/kerntime.bpf.c

// Local is the machine this process runs on.
type Local struct{}
