package cputime

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// NetISR is how the names of netisr(9)'s threads begin.
const NetISR = "swi1: netisr"

// clockThread counts the calling thread's CPU time (clock_gettime(2)).
const clockThread = unix.CLOCK_THREAD_CPUTIME_ID

// Stolen is what a hypervisor took from a CPU: FreeBSD does not count it.
func Stolen(int) (time.Duration, error) { return 0, nil }

// Self is the calling thread's Sched; how long it waited is not counted.
func Self() Sched {
	var ts unix.Timespec
	if unix.ClockGettime(clockThread, &ts) != nil {
		return Sched{}
	}
	return Sched{Ran: time.Duration(ts.Nano())}
}

// kernelPID is the process whose threads serve the kernel's task queues.
const kernelPID = 0

// interrupts is the process whose threads serve interrupts, hardware's and
// software's.
var interrupts = sync.OnceValue(func() int {
	b, err := unix.SysctlRaw("kern.proc.proc")
	if pid, ok := pidOf("intr", b); err == nil && ok {
		return pid
	}
	return kernelPID
})

// Threads lists the kernel's threads whose name begins with one of these. A
// jailed process sees none.
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

// Thread is the Sched of a kernel thread; zero if it is gone.
func Thread(tid int) Sched {
	all, _ := Threads("")
	for _, t := range all {
		if t.TID == tid {
			return Sched{Ran: t.Ran}
		}
	}
	return Sched{}
}

// KernelThreads lists the kernel's threads whose name begins so, by their id.
func KernelThreads(prefix string) map[int]string {
	found := map[int]string{}
	all, _ := Threads(prefix)
	for _, t := range all {
		found[t.TID] = t.Name
	}
	return found
}

// settle is how often a thread is looked at until it sleeps, at a hundredth of
// a millisecond each.
const settle = 500

// Spent is the CPU time of the kernel's threads whose name begins with one of
// these, once all of them sleep: the time of a thread that runs is counted when
// it stops.
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
