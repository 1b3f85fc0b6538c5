//go:build linux || freebsd

package cputime

import (
	"maps"
	"slices"
	"sync"
	"time"

	"linerate/internal/load"
)

// Sched is what the scheduler knows of a thread since it began.
type Sched struct {
	Ran    time.Duration // on a CPU
	Waited time.Duration // ready to run while others ran
	Slices uint64        // how often it was given a CPU
}

// sub is what came since.
func (s Sched) sub(before Sched) Sched {
	return Sched{s.Ran - before.Ran, s.Waited - before.Waited, s.Slices - before.Slices}
}

// Meter watches a generator's workers and the kernel's packet threads for the
// time of one run.
type Meter struct {
	cpus    []int
	began   time.Time
	stolen  time.Duration
	threads map[int]string
	before  map[int]Sched
	mu      sync.Mutex
	waited  time.Duration
}

// NewMeter begins to watch the workers' CPUs; −1 is a worker on any of them.
func NewMeter(cpus []int) *Meter {
	m := &Meter{cpus: cpus, began: time.Now(), threads: map[int]string{}, before: map[int]Sched{}}
	for _, prefix := range packetThreads {
		maps.Copy(m.threads, KernelThreads(prefix))
	}
	for pid := range m.threads {
		m.before[pid] = Thread(pid)
	}
	m.stolen = m.steal()
	return m
}

// Worker runs one worker and adds how long its thread waited for its CPU.
func (m *Meter) Worker(f func() error) error {
	before := Self()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waited += Self().sub(before).Waited
	}()
	return f()
}

// HostTime is what came since NewMeter.
func (m *Meter) HostTime() load.HostTime {
	h := load.HostTime{Seconds: time.Since(m.began).Seconds(), Workers: len(m.cpus), Stolen: (m.steal() - m.stolen).Seconds(), Uncounted: !countsWaits}
	m.mu.Lock()
	h.Waited = m.waited.Seconds()
	m.mu.Unlock()
	for _, pid := range slices.Sorted(maps.Keys(m.threads)) {
		if d := Thread(pid).sub(m.before[pid]); d.Ran > 0 {
			h.Threads = append(h.Threads, load.ThreadTime{Name: m.threads[pid], Ran: d.Ran.Seconds(), Waited: d.Waited.Seconds(), Wakeups: d.Slices})
		}
	}
	return h
}

// steal adds up the workers' CPUs, each once.
func (m *Meter) steal() (sum time.Duration) {
	cpus := slices.Compact(slices.Sorted(slices.Values(m.cpus)))
	for _, cpu := range cpus {
		d, err := Stolen(cpu)
		if err == nil {
			sum += d
		}
	}
	return sum
}
