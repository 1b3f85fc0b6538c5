package client

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// latePort leaves the choice of the local port to connect(2), which knows the
// destination, instead of bind(2): otherwise all addresses of a server share
// 28,000 ports (ip(7), IP_BIND_ADDRESS_NO_PORT).
func latePort(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) // old kernels lack it
	})
}
