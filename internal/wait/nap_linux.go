package wait

import (
	"time"

	"golang.org/x/sys/unix"
)

// Late is by how much a Nap mostly ends late, at most, on a machine that has a processor
// to spare: the kernel's timer slack is 50 µs (prctl(2), PR_SET_TIMERSLACK).
const Late = 150 * time.Microsecond

// Nap sleeps for less than a few milliseconds. Go's own sleep ends on
// epoll_wait(2), to a millisecond; this one is some 60 µs late.
func Nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // woken early, the caller looks at its clock
}
