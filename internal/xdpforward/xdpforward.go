// Package xdpforward makes a device's driver forward IP packets by an XDP
// program, past the kernel's own path: the other side of the question what that
// path costs. Linux only.
package xdpforward
