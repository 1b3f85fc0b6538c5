//go:build !linux

package membench

import "runtime"

// cpus are as many as this process may run on.
func cpus() []int {
	out := make([]int, runtime.NumCPU())
	for i := range out {
		out[i] = i
	}
	return out
}

// pin leaves the thread to the scheduler.
func pin(int) error { return nil }
