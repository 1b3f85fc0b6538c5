package labtest

import "time"

// Patience is how long Eventually waits: longer than any busy machine takes.
const Patience = 4 * time.Minute

// Eventually waits until something is so, and reports whether it came to be within
// Patience. Tests wait for conditions with it: a time that is always enough is mostly
// too much, and on a busy machine it is not enough.
func Eventually(is func() bool) bool {
	for deadline := time.Now().Add(Patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
