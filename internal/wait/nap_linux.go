package wait

import (
	"time"

	"golang.org/x/sys/unix"
)

// Late is the usual maximum delay of a Nap on a machine with an idle CPU: the kernel's timer slack
// is 50 µs (prctl(2), PR_SET_TIMERSLACK).
const Late = 150 * time.Microsecond

// Nap sleeps for less than a few milliseconds. Go's own sleep uses epoll_wait(2), with a resolution
// of one millisecond; this one is about 60 µs late.
func Nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // if woken early, the caller checks its clock
}
