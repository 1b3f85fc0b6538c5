package httpload

import (
	"syscall"
	"time"

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

// nap sleeps for less than a few milliseconds. Go's own sleep ends on
// epoll_wait(2), to a millisecond; this one is some 60 µs late.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // woken early, the caller looks at its clock
}
