package xdpforward

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" forward ../../bpf/forward.bpf.c
