package cputime

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// userHZ is the unit of /proc/stat on every architecture that Linux supports.
const userHZ = 100

// Times are the uses of a CPU's time since boot, from /proc/stat. Idle includes I/O
// wait, and is exact where the kernel stops the tick of idle CPUs; System is the time
// of system calls, faults and threads, without interrupts and softirqs, and is sampled
// by ticks.
type Times struct{ System, Idle, Stolen time.Duration }

// TimesOf reads the times of a CPU, to 10 ms; −1 means the sum of all CPUs.
func TimesOf(cpu int) (Times, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Times{}, err
	}
	return parseStat(data, cpu)
}

// Stolen returns the time that the hypervisor took from a CPU since boot.
func Stolen(cpu int) (time.Duration, error) {
	t, err := TimesOf(cpu)
	return t.Stolen, err
}

// parseStat parses a line of /proc/stat: cpu user nice system idle iowait irq softirq steal …
func parseStat(stat []byte, cpu int) (Times, error) {
	want := "cpu"
	if cpu >= 0 {
		want += strconv.Itoa(cpu)
	}
	for line := range bytes.Lines(stat) {
		f := strings.Fields(string(line))
		if len(f) < 9 || f[0] != want {
			continue
		}
		var times [9]time.Duration
		for i := 1; i < len(times); i++ {
			ticks, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil {
				return Times{}, fmt.Errorf("times of %s in /proc/stat: %w", want, err)
			}
			times[i] = time.Duration(ticks) * time.Second / userHZ
		}
		return Times{System: times[3], Idle: times[4] + times[5], Stolen: times[8]}, nil
	}
	return Times{}, fmt.Errorf("/proc/stat has no line %s", want)
}

// Self returns the Sched of the calling thread, or zero without CONFIG_SCHED_INFO.
func Self() Sched { return readSched("/proc/thread-self/schedstat") }

// Thread returns the Sched of any thread of this machine, including kernel
// threads, or zero if it has ended.
func Thread(pid int) Sched { return readSched(fmt.Sprintf("/proc/%d/schedstat", pid)) }

func readSched(path string) Sched {
	data, err := os.ReadFile(path)
	if err != nil {
		return Sched{}
	}
	var ran, waited int64
	var s Sched
	if _, err := fmt.Sscan(string(data), &ran, &waited, &s.Slices); err != nil {
		return Sched{}
	}
	s.Ran, s.Waited = time.Duration(ran), time.Duration(waited)
	return s
}

// KernelThreads returns the names, by PID, of the kernel threads whose name has
// this prefix: "ksoftirqd/" handles softirqs that could not finish at once,
// "napi/DEVICE-" is a threaded NAPI of a device in any network namespace.
func KernelThreads(prefix string) map[int]string {
	found := map[int]string{}
	for _, pid := range kernelPids() {
		comm, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
		if err != nil || !strings.HasPrefix(string(comm), prefix) {
			continue
		}
		if n, err := strconv.Atoi(pid); err == nil {
			found[n] = strings.TrimSpace(string(comm))
		}
	}
	return found
}

// kernelPids lists the children of kthreadd, or all processes if the kernel
// lacks CONFIG_PROC_CHILDREN: a busy server has thousands.
func kernelPids() []string {
	if comm, err := os.ReadFile("/proc/2/comm"); err == nil && string(comm) == "kthreadd\n" {
		if children, err := os.ReadFile("/proc/2/task/2/children"); err == nil {
			return strings.Fields(string(children))
		}
	}
	names, _ := filepath.Glob("/proc/[0-9]*")
	for i, n := range names {
		names[i] = filepath.Base(n)
	}
	return names
}

// Softirqd returns the PID of a CPU's ksoftirqd, or 0.
func Softirqd(cpu int) int {
	want := fmt.Sprintf("ksoftirqd/%d", cpu)
	for pid, name := range KernelThreads(want) {
		if name == want {
			return pid
		}
	}
	return 0
}
