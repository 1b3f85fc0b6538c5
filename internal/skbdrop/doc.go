// Package skbdrop counts the packets that the Linux kernel drops in a network
// namespace by the reason it gives for each: the tracepoint skb:kfree_skb,
// its reasons named by the kernel's own types (BTF).
//
// Counting costs: every packet that is freed as dropped on the machine passes
// the program, those of other namespaces too. It belongs in runs of its own.
package skbdrop

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" drops ../../bpf/drops.bpf.c
