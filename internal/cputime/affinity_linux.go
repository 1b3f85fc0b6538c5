package cputime

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Allowed lists the CPUs that the calling thread may run on, ascending.
func Allowed() (cpus []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read the CPUs this process may use: %w", err)
	}
	for i := range 64 * len(set) {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus, nil
}

// Pin keeps a thread on a CPU; 0 is the calling thread.
func Pin(tid, cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(tid, &set)
}
