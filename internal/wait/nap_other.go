//go:build !linux

package wait

import "time"

// Late is by how much a Nap mostly ends late, at most: by a tick of the clock, which has
// 1,000 a second (FreeBSD's kern.hz) or, in virtual machines, fewer.
const Late = 10 * time.Millisecond

// Nap sleeps for a short time.
func Nap(d time.Duration) { time.Sleep(d) }
