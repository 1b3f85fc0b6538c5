package cputime

import (
	"runtime"
	"testing"
	"time"

	"linerate/internal/labtest"

	"golang.org/x/sys/unix"
)

func TestParseSteal(t *testing.T) {
	stat := []byte("cpu  1 2 3 4 5 6 7 80 0 0\ncpu0 1 2 3 4 5 6 7 30 0 0\ncpu1 1 2 3 4 5 6 7 50 0 0\nintr 5\n")
	for cpu, want := range map[int]time.Duration{-1: 800 * time.Millisecond, 0: 300 * time.Millisecond, 1: 500 * time.Millisecond} {
		if got, err := parseStat(stat, cpu); err != nil || got.Stolen != want {
			t.Errorf("CPU %d: %v, %v, want %v", cpu, got, err, want)
		}
	}
	if _, err := parseStat(stat, 7); err == nil {
		t.Error("a CPU that does not exist has a steal time")
	}
}

func TestParseStat(t *testing.T) {
	got, err := parseStat([]byte("cpu  10 20 300 4000 50 6 7 8 0 0\ncpu0 1 2 3 4 5\n"), -1)
	if want := (Times{System: 3 * time.Second, Idle: 40500 * time.Millisecond, Stolen: 80 * time.Millisecond}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{"", "cpu 1 2 3\n", "cpu  1 2 three 4 5 6 7 8\n", "intr 1 2 3 4 5 6\n"} {
		if _, err := parseStat([]byte(text), -1); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// TestSelfSeesWaiting lets two threads share one CPU: each waits about as long as the other runs.
func TestSelfSeesWaiting(t *testing.T) {
	if Self().Slices == 0 {
		labtest.Lacking(t, "this kernel has no schedstat")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	begin, waited := time.Now(), make(chan time.Duration, 2)
	for range 2 {
		go func() {
			runtime.LockOSThread() // never unlocked: the thread stays pinned
			pin(0)
			before := Self().Waited
			for end := time.Now().Add(60 * time.Millisecond); time.Now().Before(end); {
			}
			waited <- Self().Waited - before
		}()
	}
	if sum := <-waited + <-waited; sum < 20*time.Millisecond || sum > 2*time.Since(begin) {
		t.Errorf("two threads on one CPU for 60 ms waited for %v", sum)
	}
}

func TestKernelThreads(t *testing.T) {
	pid := Softirqd(0)
	if pid == 0 {
		labtest.Lacking(t, "kernel threads are not visible here")
	}
	if all := KernelThreads("ksoftirqd/"); all[pid] != "ksoftirqd/0" || len(all) > runtime.NumCPU() && len(all) > 4096 {
		t.Errorf("ksoftirqd/0 is %d of %v", pid, all)
	}
	if Thread(-1) != (Sched{}) {
		t.Error("a thread that does not exist has run")
	}
}

func pin(cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set)
}
