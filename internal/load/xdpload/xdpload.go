// Package xdpload generates and counts traffic in eBPF: live frames, redirected
// to a device by BPF_PROG_TEST_RUN (Linux 5.18 or later), and a receiver that
// runs as an XDP program. Both need root, or CAP_BPF, CAP_NET_ADMIN,
// CAP_NET_RAW and CAP_PERFMON in the initial user namespace.
package xdpload

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" generate ../../../bpf/generate.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" receive ../../../bpf/receive.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" refused ../../../bpf/refused.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" slices ../../../bpf/slices.bpf.c
