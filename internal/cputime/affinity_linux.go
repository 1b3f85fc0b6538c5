package cputime

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Allowed lists the CPUs that the calling thread may run on, in ascending order.
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

// Pin pins a thread to a CPU; thread 0 is the calling thread.
func Pin(tid, cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(tid, &set)
}

// SessionNice returns the nice value of a process's session where the kernel
// schedules by session (sched(7), autogroup): "/autogroup-4711 nice 0".
func SessionNice(pid string) (nice int, ok bool) {
	text, err := os.ReadFile("/proc/" + pid + "/autogroup")
	if err != nil {
		return 0, false
	}
	_, number, found := strings.Cut(strings.TrimSpace(string(text)), " nice ")
	nice, err = strconv.Atoi(number)
	return nice, found && err == nil
}
