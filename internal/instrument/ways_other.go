//go:build !linux

package instrument

import "errors"

// OpenKernelClock has no better way than ticks on FreeBSD.
func OpenKernelClock() (KernelClock, error) {
	return nil, errors.New("dtrace(4) would have to be loaded")
}
