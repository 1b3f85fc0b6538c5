// Package sockops splits the TCP connections that a service accepts into arms, by an eBPF
// program at the sock_ops hook of its cgroup. Each connection draws its arm at random when it
// is established; the treated ones get socket options; each one is reported when it has ended.
//
// The program is held by a link that ends with this process, so nothing needs to be undone.
// Treated connections keep their options until they close.
package sockops

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -type closed -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" connections ../../bpf/connections.bpf.c
