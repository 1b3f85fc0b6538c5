package lab

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"linerate/internal/cputime"
	"linerate/internal/port"
)

// Stolen reads the steal column of /proc/stat (proc(5)).
func (Local) Stolen(cpu int) (time.Duration, error) { return cputime.Stolen(cpu) }

// Load1 reads /proc/loadavg; 0 if there is none.
func (Local) Load1() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), " ")
	v, _ := strconv.ParseFloat(first, 64)
	return v
}

// Meter sums up how long the threads in a place waited for their CPU, and
// subtracts what the CPU's ksoftirqd ran meanwhile, since that is the chain's
// own work, which the kernel moved there. Without schedstat
// (CONFIG_SCHED_INFO) it reports no contention.
func (Local) Meter(in port.Place, cpu int) (port.Place, func() time.Duration) {
	m := &meter{softirq: cputime.Softirqd(cpu)}
	watched := func(f func() error) error {
		return in(func() error {
			before := cputime.Self()
			defer func() { m.add(cputime.Self().Waited - before.Waited) }()
			return f()
		})
	}
	return watched, m.take
}

// Watch does the same for a running thread, such as a kernel thread.
func (Local) Watch(thread, cpu int) func() time.Duration {
	m := &meter{softirq: cputime.Softirqd(cpu)}
	last := cputime.Thread(thread)
	return func() time.Duration {
		now := cputime.Thread(thread)
		m.add(now.Waited - last.Waited)
		last = now
		return m.take()
	}
}

// meter sums up waiting times, and subtracts the chain's own work.
type meter struct {
	mu         sync.Mutex
	waited     time.Duration
	softirq    int // pid of the CPU's ksoftirqd, or 0
	softirqRan time.Duration
}

func (m *meter) add(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waited += d
}

// take returns the time spent waiting for others since the last take.
func (m *meter) take() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ran time.Duration
	if m.softirq != 0 {
		ran = cputime.Thread(m.softirq).Ran
	}
	contention := m.waited - (ran - m.softirqRan)
	m.waited, m.softirqRan = 0, ran
	return max(0, contention)
}
