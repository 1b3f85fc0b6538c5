package membench

import "linerate/internal/cputime"

// cpus are the CPUs that this process may run on.
func cpus() []int {
	all, _ := cputime.Allowed()
	return all
}

// pin keeps the calling thread on a CPU.
func pin(cpu int) error { return cputime.Pin(0, cpu) }
