package perfevent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// events are the counters that are read, in the order they are shown.
var events = []struct {
	name   string
	config uint64
}{
	{"cycles", unix.PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", unix.PERF_COUNT_HW_INSTRUCTIONS},
	{"cache references", unix.PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache misses", unix.PERF_COUNT_HW_CACHE_MISSES},
	{"branches", unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch misses", unix.PERF_COUNT_HW_BRANCH_MISSES},
}

// Counting is a set of counters that run until they are ended.
type Counting struct {
	open []counter
	Lack []Lack // what this machine has not
}

type counter struct {
	event string
	fd    int
}

// StartCounting counts the hardware's events on CPUs, whatever runs there;
// empty: all online. What the machine lacks is in Lack, and no error.
func StartCounting(cpus []int) (*Counting, error) {
	if len(cpus) == 0 {
		var err error
		if cpus, err = online(); err != nil {
			return nil, err
		}
	}
	c := &Counting{}
	for _, e := range events {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: e.config,
			Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING}
		attr.Size = uint32(unsafe.Sizeof(attr))
		for _, cpu := range cpus {
			fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
			if err != nil {
				c.Lack = append(c.Lack, Lack{e.name, because(err)})
				break
			}
			c.open = append(c.open, counter{e.name, fd})
		}
	}
	return c, nil
}

// because says why a counter cannot be had.
func because(err error) string {
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
		n, err := o.read()
		failed = errors.Join(failed, err, unix.Close(o.fd))
		if last := len(out) - 1; last >= 0 && out[last].Event == o.event {
			out[last].N += n
			continue
		}
		out = append(out, Count{o.event, n})
	}
	c.open = nil
	return out, failed
}

// read scales a count by the share of the time that the counter really ran.
func (c counter) read() (float64, error) {
	var b [24]byte
	if n, err := unix.Read(c.fd, b[:]); err != nil || n != len(b) {
		return 0, fmt.Errorf("read the counter of %s: %d bytes, %w", c.event, n, err)
	}
	value, enabled, running := binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])
	if running == 0 {
		return 0, nil
	}
	return float64(value) * float64(enabled) / float64(running), nil
}
