//go:build !linux

package wait

import "time"

// Late is the usual maximum delay of a Nap, a tick of the clock, which has 1,000 per second
// (FreeBSD's kern.hz) or, in virtual machines, fewer.
const Late = 10 * time.Millisecond

// Nap sleeps for a short time.
func Nap(d time.Duration) { time.Sleep(d) }
