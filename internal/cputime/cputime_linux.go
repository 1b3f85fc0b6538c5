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

// userHZ is the unit of /proc/stat on every architecture Linux still has.
const userHZ = 100

// Times are where a CPU's time since boot went, as /proc/stat has it. Idle, waits for
// input and output included, is by the kernel's clock where it stops the tick of idle
// CPUs; System, of system calls, faults and threads outside of interrupts and softirqs,
// is by ticks.
type Times struct{ System, Idle, Stolen time.Duration }

// TimesOf reads the times of a CPU, to 10 ms; −1 is all CPUs together.
func TimesOf(cpu int) (Times, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Times{}, err
	}
	return parseStat(data, cpu)
}

// Stolen is what the hypervisor took from a CPU since boot.
func Stolen(cpu int) (time.Duration, error) {
	t, err := TimesOf(cpu)
	return t.Stolen, err
}

// parseStat reads a line: cpu user nice system idle iowait irq softirq steal …
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

// Self is the calling thread's Sched. Without CONFIG_SCHED_INFO it is zero.
func Self() Sched { return readSched("/proc/thread-self/schedstat") }

// Thread is the Sched of a thread of this machine, kernel threads included;
// zero if it is gone.
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

// KernelThreads lists this machine's threads whose name begins so, by their
// pid: "ksoftirqd/" handles what packets softirqs could not at once,
// "napi/DEVICE-" is a threaded NAPI of a device, whatever namespace it is in.
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

// kernelPids are the children of kthreadd, or where it does not tell them
// (CONFIG_PROC_CHILDREN), all processes: a busy server has thousands.
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

// Softirqd is the pid of a CPU's ksoftirqd, or 0.
func Softirqd(cpu int) int {
	want := fmt.Sprintf("ksoftirqd/%d", cpu)
	for pid, name := range KernelThreads(want) {
		if name == want {
			return pid
		}
	}
	return 0
}
