package labtest

import "time"

// Patience is how long Eventually waits: longer than any busy machine takes.
const Patience = 4 * time.Minute

// Eventually waits until something is so, and reports whether it came to be within
// Patience. Tests wait for conditions with it: a time that is always enough is mostly
// too much, and on a busy machine it is not enough. It looks less and less often, for a
// look may start processes, or a thread in a namespace.
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
