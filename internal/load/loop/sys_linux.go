package loop

import (
	"time"

	"golang.org/x/sys/unix"
)

// nap sleeps for less than a few milliseconds. Go's own sleep ends on
// epoll_wait(2), to a millisecond; this one is some 60 µs late.
var nap = func(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // woken early, the caller looks at its clock
}
