package client

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time of this process: its own, and the kernel's for it.
func CPU() (user, system time.Duration) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}
