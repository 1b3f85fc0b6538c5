package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/testbed"
)

// Local is the Linux machine this process runs on.
type Local struct{}

var _ Machine = Local{}

// Now is the wall clock with the monotonic one in it.
func (Local) Now() time.Time { return time.Now() }

// Spin pins a thread to the CPU and times the calibration there.
func (Local) Spin(cpu int) (float64, error) {
	type result struct {
		ns  float64
		err error
	}
	done := make(chan result, 1)
	go func() {
		// Never unlocked: the pinned thread ends with the goroutine.
		runtime.LockOSThread()
		if cpu >= 0 {
			var set unix.CPUSet
			set.Set(cpu)
			if err := unix.SchedSetaffinity(0, &set); err != nil {
				done <- result{0, fmt.Errorf("pin a thread to CPU %d: %w", cpu, err)}
				return
			}
		}
		done <- result{fastestSpin(time.Now), nil}
	}()
	r := <-done
	return r.ns, r.err
}

// userHZ is the unit of /proc/stat on every architecture Linux still has.
const userHZ = 100

// Stolen reads the steal column of /proc/stat (proc(5)).
func (Local) Stolen(cpu int) (time.Duration, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseSteal(data, cpu)
}

func parseSteal(stat []byte, cpu int) (time.Duration, error) {
	want := "cpu"
	if cpu >= 0 {
		want += strconv.Itoa(cpu)
	}
	for line := range bytes.Lines(stat) {
		f := strings.Fields(string(line))
		if len(f) < 9 || f[0] != want {
			continue
		}
		ticks, err := strconv.ParseInt(f[8], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("steal of %s in /proc/stat: %w", want, err)
		}
		return time.Duration(ticks) * time.Second / userHZ, nil
	}
	return 0, fmt.Errorf("/proc/stat has no line %s", want)
}

// Load1 reads /proc/loadavg; 0 where there is none.
func (Local) Load1() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), " ")
	v, _ := strconv.ParseFloat(first, 64)
	return v
}

// Meter adds up how long the threads of a place waited for their CPU, and
// takes off what the CPU's ksoftirqd ran meanwhile: that is the chain's own
// work, which the kernel moved there. Without schedstat (CONFIG_SCHED_INFO)
// it knows of no contention.
func (Local) Meter(in testbed.Place, cpu int) (testbed.Place, func() time.Duration) {
	m := &meter{softirq: softirqThread(cpu)}
	watched := func(f func() error) error {
		return in(func() error {
			before := schedWait()
			defer func() { m.add(schedWait() - before) }()
			return f()
		})
	}
	return watched, m.take
}

// Watch is Meter of a thread that runs already, as kernel threads do.
func (Local) Watch(thread, cpu int) func() time.Duration {
	m := &meter{softirq: softirqThread(cpu)}
	path := fmt.Sprintf("/proc/%d/schedstat", thread)
	last, _ := schedstat(path)
	return func() time.Duration {
		waited, _ := schedstat(path)
		m.add(waited - last)
		last = waited
		return m.take()
	}
}

// meter adds up waiting, and knows what of it was the chain's own.
type meter struct {
	mu         sync.Mutex
	waited     time.Duration
	softirq    string // schedstat of the CPU's ksoftirqd, or ""
	softirqRan time.Duration
}

func (m *meter) add(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waited += d
}

// take is what was waited for others since the last take.
func (m *meter) take() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ran := schedstat(m.softirq)
	contention := m.waited - (ran - m.softirqRan)
	m.waited, m.softirqRan = 0, ran
	return max(0, contention)
}

func schedWait() time.Duration {
	waited, _ := schedstat("/proc/thread-self/schedstat")
	return waited
}

// schedstat reads how long a thread waited on a run queue, and ran
// (Documentation/scheduler/sched-stats.rst).
func schedstat(path string) (waited, ran time.Duration) {
	if path == "" {
		return 0, 0
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, 0
	}
	var r, w int64
	if _, err := fmt.Sscan(string(data), &r, &w); err != nil {
		return 0, 0
	}
	return time.Duration(w), time.Duration(r)
}

// softirqThread finds the schedstat file of a CPU's ksoftirqd.
func softirqThread(cpu int) string {
	if cpu < 0 {
		return ""
	}
	want := fmt.Sprintf("ksoftirqd/%d", cpu)
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return ""
	}
	for _, dir := range dirs {
		comm, err := os.ReadFile(filepath.Join(dir, "comm"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.TrimSpace(string(comm)) == want {
			return filepath.Join(dir, "schedstat")
		}
	}
	return ""
}
