//go:build !linux

package instrument

import "errors"

// OpenKernelClock returns an error: FreeBSD offers nothing better than ticks without dtrace.
func OpenKernelClock() (KernelClock, error) {
	return nil, errors.New("dtrace(4) would have to be loaded")
}
