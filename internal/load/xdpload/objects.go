package xdpload

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" generate ../../../bpf/generate.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" receive ../../../bpf/receive.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" refused ../../../bpf/refused.bpf.c
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" slices ../../../bpf/slices.bpf.c
