// Package sockops splits the TCP connections that a service accepts into arms, by an eBPF
// program at the cgroup's sock_ops hook: each connection draws its arm when it is established,
// the treated ones get socket options, and each one is reported when it has ended.
//
// The program is held by a link that ends with this process, however it ends: nothing is to
// be undone. Connections that were treated keep their options until they close.
package sockops

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -type closed -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" connections ../../bpf/connections.bpf.c
