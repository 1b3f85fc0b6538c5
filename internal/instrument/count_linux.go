package instrument

import (
	"errors"

	"golang.org/x/sys/unix"
)

// events are the counters that are read, in the order they are shown.
var events = []Event{
	Cycles,
	{"instructions", unix.PERF_COUNT_HW_INSTRUCTIONS},
	{"cache references", unix.PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache misses", unix.PERF_COUNT_HW_CACHE_MISSES},
	{"branches", unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch misses", unix.PERF_COUNT_HW_BRANCH_MISSES},
}

// Counting is a set of counters that run until they are ended.
type Counting struct {
	open []*Counter
	Lack []Lack // what this machine has not
}

// StartCounting counts the hardware's events on CPUs, whatever runs there;
// empty: all online. What the machine lacks is in Lack, and no error.
func StartCounting(cpus []int) (*Counting, error) {
	if len(cpus) == 0 {
		var err error
		if cpus, err = Online(); err != nil {
			return nil, err
		}
	}
	c := &Counting{}
	for _, e := range events {
		for _, cpu := range cpus {
			one, err := e.Open(Scope{CPU: cpu})
			if err != nil {
				c.Lack = append(c.Lack, Lack{e.Name, Because(err)})
				break
			}
			c.open = append(c.open, one)
		}
	}
	return c, nil
}

// Because says why a counter cannot be had.
func Because(err error) string {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return "not supported by this machine"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return "not allowed: it needs root or CAP_PERFMON"
	}
	return err.Error()
}

// End reads the counters and closes them. One that never ran counts nothing.
func (c *Counting) End() ([]Count, error) {
	var out []Count
	var failed error
	for _, o := range c.open {
		r, err := o.Read()
		n := r.Since(Reading{})
		failed = errors.Join(failed, err, o.Close())
		if last := len(out) - 1; last >= 0 && out[last].Event == o.event.Name {
			out[last].N += n
			continue
		}
		out = append(out, Count{o.event.Name, n})
	}
	c.open = nil
	return out, failed
}
