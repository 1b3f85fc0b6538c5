package instrument

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"linerate/internal/show"
)

// counter is one of the CPU's, on one CPU.
type counter interface {
	Read() (Reading, error)
	Close() error
}

// cycles are what CPUs count while they run in the kernel.
type cycles struct {
	event  string
	open   func(cpu int) (counter, error) // errGone of a CPU that is not there
	online func() ([]int, error)
	rates  map[int]float64 // counts in a nanosecond, of each CPU
	cpus   map[int]*counted
	sum    float64 // nanoseconds
}

// counted is a counter with what it had come to when it was last read.
type counted struct {
	counter
	last Reading
}

var errGone = errors.New("the CPU is not there")

// Name is as records have it.
func (c *cycles) Name() string { return ByCycles }

// How says what is counted, and how exact that is.
func (c *cycles) How() (kernel, interrupts string) {
	return fmt.Sprintf("the CPUs' own counters of %s in the kernel's mode (system calls, faults, interrupts, softirqs, its threads; the little that the loop of an idle CPU takes is in it), "+
		"in nanoseconds at %s a second, as measured when the study began", c.event, show.SI(1e9*c.rate(), "counts")), ""
}

// rate is that of all CPUs, for people and for one that came later.
func (c *cycles) rate() float64 {
	sum := 0.0
	for _, r := range c.rates {
		sum += r
	}
	return sum / max(1, float64(len(c.rates)))
}

// Read is the kernel's time so far, of all CPUs. Those that came since are counted from
// now on; of those that went, what they had counted until then.
func (c *cycles) Read() (KernelTime, error) {
	online, err := c.online()
	if err != nil {
		return KernelTime{}, err
	}
	for _, cpu := range slices.Sorted(maps.Keys(c.cpus)) {
		if err := c.add(cpu, slices.Contains(online, cpu)); err != nil {
			return KernelTime{}, err
		}
	}
	for _, cpu := range online {
		if c.cpus[cpu] != nil {
			continue
		}
		one, err := c.open(cpu)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return KernelTime{}, err
		}
		first, err := one.Read()
		if err != nil {
			return KernelTime{}, errors.Join(err, one.Close())
		}
		c.cpus[cpu] = &counted{one, first}
	}
	return KernelTime{All: time.Duration(c.sum)}, nil
}

// add takes what a CPU counted since the last time. A counter that stands still belongs to
// a CPU that went, and maybe came back: it is closed.
func (c *cycles) add(cpu int, there bool) error {
	one := c.cpus[cpu]
	now, err := one.Read()
	stands := err != nil || now.Enabled == one.last.Enabled
	switch {
	case err == nil && now.Running > one.last.Running:
		rate := c.rates[cpu]
		if rate == 0 {
			rate = c.rate()
		}
		c.sum += now.Since(one.last) / rate
		one.last = now
	case !stands && there:
		return fmt.Errorf("the counter of %s had no turn on CPU %d: something else uses the CPU's counters", c.event, cpu)
	}
	if there && !stands {
		return nil
	}
	delete(c.cpus, cpu)
	return one.Close()
}

// Close ends the counters.
func (c *cycles) Close() (err error) {
	for _, one := range c.cpus {
		err = errors.Join(err, one.Close())
	}
	c.cpus = nil
	return err
}

// How much of the time that CPUs were idle a counter may tell, for its loop takes a few per
// cent of it where a CPU wakes ten thousand times a second, and how exact its rate is.
const (
	mostIdle = 0.1
	rateIs   = 0.05
)

// runsOn reports that counters of all modes went on while their CPUs were idle, by the time
// that they counted, that passed on all CPUs, and that was idle: hardware's that does not
// stop, or CPUs that poll where others halt. A machine that is hardly ever idle cannot
// tell, nor does it matter there.
func runsOn(counted, passed, idle time.Duration) bool {
	busy := passed - idle
	return idle > passed/10 && float64(counted) > (1+rateIs)*float64(busy)+mostIdle*float64(idle)
}
