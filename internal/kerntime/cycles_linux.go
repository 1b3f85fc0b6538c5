package kerntime

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/perfevent"
)

// openCycles counts a steady clock's cycles where the CPU does, else its own.
func openCycles() (*cycles, error) {
	online, err := perfevent.Online()
	if err != nil {
		return nil, err
	}
	var lacks error
	for _, e := range []perfevent.Event{perfevent.Reference, perfevent.Cycles} {
		c := &cycles{event: e.Name, online: perfevent.Online, cpus: map[int]*counted{}, open: func(cpu int) (counter, error) {
			one, err := e.Open(perfevent.Scope{CPU: cpu, Kernel: true})
			if errors.Is(err, unix.ENODEV) {
				return nil, errGone
			}
			return one, err
		}}
		if lacks = c.begin(e, online); lacks == nil {
			return c, nil
		}
		_ = c.Close() // what matters is why it cannot be had
	}
	return nil, lacks
}

// begin measures the event's rate, counts, and looks whether idle CPUs count as well.
func (c *cycles) begin(e perfevent.Event, online []int) error {
	var err error
	if c.rates, err = ratesOf(e, online); err != nil {
		if why := perfevent.Because(err); why != err.Error() {
			return fmt.Errorf("counters of cycles are %s%s", why, virtual())
		}
		return err
	}
	if _, err := c.Read(); err != nil {
		return err
	}
	passed, idle, err := c.watch(len(online))
	if err != nil {
		return err
	}
	if runsOn(time.Duration(c.sum), passed, idle) {
		return hint.With(fmt.Errorf("the counters of %s go on while the CPUs are idle", c.event), "idle=poll, haltpoll, or a virtual CPU: what waits is told apart from what works by the next way")
	}
	return nil
}

// watching is how long it is looked whether idle CPUs count.
const watching = 500 * time.Millisecond

func (c *cycles) watch(cpus int) (passed, idle time.Duration, err error) {
	before, err := readStat()
	if err != nil {
		return 0, 0, err
	}
	start, counted := time.Now(), c.sum
	time.Sleep(watching)
	if _, err = c.Read(); err != nil {
		return 0, 0, err
	}
	passed = time.Since(start) * time.Duration(cpus)
	c.sum -= counted
	after, err := readStat()
	return passed, after.Idle - before.Idle, err
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
func ratesOf(e perfevent.Event, cpus []int) (map[int]float64, error) {
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
func rateOn(e perfevent.Event, cpu int) (float64, error) {
	var set unix.CPUSet
	set.Set(cpu)
	if unix.SchedSetaffinity(0, &set) != nil {
		return 0, errGone
	}
	c, err := e.Open(perfevent.Scope{Thread: true})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	first, err := c.Read()
	if err != nil {
		return 0, err
	}
	begin, end := threadTime(), time.Duration(0)
	for end = begin; end-begin < spinning; end = threadTime() {
	}
	last, err := c.Read()
	if err != nil {
		return 0, err
	}
	rate := last.Since(first) / float64(end-begin)
	if rate <= 0 {
		return 0, fmt.Errorf("the counter of %s counts nothing on CPU %d", e.Name, cpu)
	}
	return rate, nil
}

// threadTime is the CPU time of the calling thread.
func threadTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
