package labtest

import "time"

// Patience is how long Eventually waits: longer than even a busy machine takes.
const Patience = 4 * time.Minute

// Eventually waits until a condition holds, and returns false if it does not within
// Patience. Tests use it instead of fixed delays: one that always suffices is mostly
// too long, and too short on a busy machine. It checks at growing intervals, since a
// check may start processes or enter a namespace.
func Eventually(is func() bool) bool {
	for begin := time.Now(); !is(); {
		waited := time.Since(begin)
		if waited > Patience {
			return false
		}
		time.Sleep(min(max(waited/20, 5*time.Millisecond), 100*time.Millisecond))
	}
	return true
}
