package kerntime

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" kerntime ../../bpf/kerntime.bpf.c
