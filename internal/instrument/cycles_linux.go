package instrument

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/hint"
)

// openCycles counts a steady clock's cycles where the CPU does, else its own.
func openCycles() (*cycles, error) {
	online, err := Online()
	if err != nil {
		return nil, err
	}
	var lacks error
	for _, e := range []Event{Reference, Cycles} {
		c, err := cyclesOf(e, online)
		if err == nil {
			return c, nil
		}
		lacks = err
	}
	return nil, lacks
}

// cyclesOf measures an event's rate, looks whether idle CPUs count it as well, and counts.
func cyclesOf(e Event, online []int) (*cycles, error) {
	rates, err := ratesOf(e, online)
	if err != nil {
		return nil, unsupported(err)
	}
	if on, err := goesOn(e, rates, len(online)); err != nil || on {
		return nil, cmp.Or(err, hint.With(fmt.Errorf("the counters of %s go on while the CPUs are idle", e.Name), "idle=poll, haltpoll, or a virtual CPU: waiting cannot be told from work by them"))
	}
	c := counting(e, rates, true)
	if _, err := c.Read(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// counting is an event on all CPUs, in the kernel's mode alone or in all, from its first
// reading on.
func counting(e Event, rates map[int]float64, kernel bool) *cycles {
	return &cycles{event: e.Name, rates: rates, online: Online, cpus: map[int]*counted{}, open: func(cpu int) (counter, error) {
		one, err := e.Open(Scope{CPU: cpu, Kernel: kernel})
		if errors.Is(err, unix.ENODEV) {
			return nil, errGone
		}
		return one, err
	}}
}

// watching is how long it is looked whether idle CPUs count.
const watching = 500 * time.Millisecond

// goesOn looks whether an event is counted while CPUs are idle, in whatever mode.
func goesOn(e Event, rates map[int]float64, cpus int) (bool, error) {
	all := counting(e, rates, false)
	defer all.Close()
	before, err := cputime.TimesOf(-1)
	if err != nil {
		return false, err
	}
	start := time.Now()
	if _, err := all.Read(); err != nil {
		return false, err
	}
	time.Sleep(watching)
	counted, err := all.Read()
	if err != nil {
		return false, err
	}
	passed := time.Since(start) * time.Duration(cpus)
	after, err := cputime.TimesOf(-1)
	return runsOn(counted.All, passed, after.Idle-before.Idle), err
}

// unsupported says why counters cannot be had.
func unsupported(err error) error {
	switch why := Because(err); {
	case why == err.Error():
		return err
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("counters of cycles are %s", why)
	default:
		return fmt.Errorf("counters of cycles are %s%s", why, virtual())
	}
}

// virtual adds why a virtual machine has none.
func virtual() string {
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil && strings.Contains(string(text), " hypervisor") {
		return ": it is a virtual machine, and its host keeps them to itself"
	}
	return ""
}

// spinning is how long a CPU is kept busy to measure the rate of an event there.
const spinning = 4 * time.Millisecond

// ratesOf measures how often an event is counted in a nanosecond of each CPU. CPUs that
// this process may not run on have the others' rate.
func ratesOf(e Event, cpus []int) (map[int]float64, error) {
	rates := map[int]float64{}
	for _, cpu := range cpus {
		type result struct {
			rate float64
			err  error
		}
		done := make(chan result)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with its affinity
			rate, err := rateOn(e, cpu)
			done <- result{rate, err}
		}()
		r := <-done
		if errors.Is(r.err, errGone) {
			continue
		}
		if r.err != nil {
			return nil, r.err
		}
		rates[cpu] = r.rate
	}
	if len(rates) == 0 {
		return nil, errGone
	}
	return rates, nil
}

// rateOn measures it with the calling thread, which it binds to the CPU.
func rateOn(e Event, cpu int) (float64, error) {
	if cputime.Pin(0, cpu) != nil {
		return 0, errGone
	}
	c, err := e.Open(Scope{Thread: true})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	first, begin, err := readAt(c)
	if err != nil {
		return 0, err
	}
	for threadTime()-begin < spinning {
	}
	last, end, err := readAt(c)
	if err != nil {
		return 0, err
	}
	rate := last.Since(first) / float64(end-begin)
	if rate <= 0 {
		return 0, fmt.Errorf("the counter of %s counts nothing on CPU %d", e.Name, cpu)
	}
	return rate, nil
}

// readAt reads a counter of the calling thread, and when that was by the thread's CPU time:
// in the middle between before and after.
func readAt(c *Counter) (Reading, time.Duration, error) {
	before := threadTime()
	r, err := c.Read()
	return r, (before + threadTime()) / 2, err
}

// threadTime is the CPU time of the calling thread.
func threadTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
