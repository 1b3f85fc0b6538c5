package client

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// latePort lets connect(2), which knows the destination, choose the local
// port, not bind(2): else all addresses of a server share 28,000 of them
// (ip(7), IP_BIND_ADDRESS_NO_PORT).
func latePort(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) // an old kernel does without
	})
}
