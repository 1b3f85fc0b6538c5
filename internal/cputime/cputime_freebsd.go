package cputime

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// NetISR is the prefix of the names of netisr(9) threads.
const NetISR = "swi1: netisr"

// clockThread is the CPU-time clock of the calling thread (clock_gettime(2)).
const clockThread = unix.CLOCK_THREAD_CPUTIME_ID

// Stolen returns 0: FreeBSD does not count the time that a hypervisor takes.
func Stolen(int) (time.Duration, error) { return 0, nil }

// Self returns the Sched of the calling thread, without its waiting time.
func Self() Sched {
	var ts unix.Timespec
	if unix.ClockGettime(clockThread, &ts) != nil {
		return Sched{}
	}
	return Sched{Ran: time.Duration(ts.Nano())}
}

// kernelPID is the process of the threads that run the kernel's task queues.
const kernelPID = 0

// interrupts returns the process of the hardware and software interrupt
// threads.
var interrupts = sync.OnceValue(func() int {
	b, err := unix.SysctlRaw("kern.proc.proc")
	if pid, ok := pidOf("intr", b); err == nil && ok {
		return pid
	}
	return kernelPID
})

// Threads lists the kernel threads whose name begins with one of the
// prefixes. A jailed process sees none.
func Threads(prefixes ...string) ([]KernelThread, error) {
	var found []KernelThread
	pids := []int{kernelPID}
	if pid := interrupts(); pid != kernelPID {
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		b, err := unix.SysctlRaw("kern.proc.pid_td", pid)
		if err != nil {
			return nil, fmt.Errorf("list the kernel's threads: %w", err)
		}
		for _, t := range parseThreads(b) {
			if slices.ContainsFunc(prefixes, t.named) {
				found = append(found, t)
			}
		}
	}
	return found, nil
}

// Thread returns the Sched of a kernel thread, or zero if it has ended.
func Thread(tid int) Sched {
	all, _ := Threads("")
	for _, t := range all {
		if t.TID == tid {
			return Sched{Ran: t.Ran}
		}
	}
	return Sched{}
}

// KernelThreads returns the names, by thread ID, of the kernel threads whose name has this prefix.
func KernelThreads(prefix string) map[int]string {
	found := map[int]string{}
	all, _ := Threads(prefix)
	for _, t := range all {
		found[t.TID] = t.Name
	}
	return found
}

// settle is how many times Spent looks, 10 µs apart, whether the threads
// sleep.
const settle = 500

// Spent returns the CPU time of the kernel threads whose name begins with one
// of the prefixes. It waits until all of them sleep, because the time of a
// running thread is only counted when it stops.
func Spent(prefixes ...string) (time.Duration, error) {
	for tries := 0; ; tries++ {
		all, err := Threads(prefixes...)
		if err != nil {
			return 0, err
		}
		sum, asleep, err := timeOf(all, prefixes)
		if err != nil {
			return 0, err
		}
		if asleep || tries >= settle {
			return sum, nil
		}
		time.Sleep(10 * time.Microsecond)
	}
}
