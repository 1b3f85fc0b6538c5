//go:build linux || freebsd

package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic reads CLOCK_MONOTONIC in ns: on Linux the clock of
// bpf_ktime_get_ns, on FreeBSD that of BPF_T_NANOTIME_MONOTONIC.
func Monotonic() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return uint64(ts.Nano())
}

// Clock reads the monotonic clock without a system call.
type Clock struct {
	base uint64
	at   time.Time
}

// NewClock returns a Clock set from the kernel's.
func NewClock() Clock { return Clock{Monotonic(), time.Now()} }

// Now returns the same as Monotonic, but cheaper.
func (c Clock) Now() uint64 { return c.base + uint64(time.Since(c.at)) }
