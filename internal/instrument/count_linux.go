package instrument

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/study"
)

// events are the counters that are read, in the order they are shown.
var events = []event{
	{"cycles", unix.PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", unix.PERF_COUNT_HW_INSTRUCTIONS},
	{"cache references", unix.PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache misses", unix.PERF_COUNT_HW_CACHE_MISSES},
	{"branches", unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch misses", unix.PERF_COUNT_HW_BRANCH_MISSES},
}

// Count counts the hardware's events on CPUs, whatever runs there, until it is ended;
// no CPUs: all that are online. An event that the machine does not count is missing,
// and no error.
func (Local) Count(cpus []int) (end func() ([]study.PerPacket, []study.Missing, error), err error) {
	if len(cpus) == 0 {
		if cpus, err = online(); err != nil {
			return nil, err
		}
	}
	var open []counter
	var lack []study.Missing
	for _, e := range events {
		for _, cpu := range cpus {
			one, err := e.open(cpu)
			if err != nil {
				lack = append(lack, study.Missing{What: e.name, Why: because(err)})
				break
			}
			open = append(open, one)
		}
	}
	return func() (counts []study.PerPacket, _ []study.Missing, failed error) {
		for _, o := range open {
			n, err := o.read()
			failed = errors.Join(failed, err, unix.Close(o.fd))
			if last := len(counts) - 1; last >= 0 && counts[last].Event == o.name {
				counts[last].Count += n
				continue
			}
			counts = append(counts, study.PerPacket{Event: o.name, Count: n})
		}
		return counts, lack, failed
	}, nil
}

// event is one that the CPU's hardware counts, by the kernel's generic name for it
// (perf_event_open(2), PERF_TYPE_HARDWARE).
type event struct {
	name   string
	config uint64
}

// counter is one that runs until it is closed, or the process ends.
type counter struct {
	name string
	fd   int
}

// open starts to count an event of all that runs on a CPU. Its error says why this
// machine does not. exclude_idle is not used: most drivers ignore it, arm64's refuses it.
func (e event) open(cpu int) (counter, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: e.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	return counter{e.name, fd}, err
}

// read is what was counted, scaled up by the share of the time that the counter ran,
// for counters may have to take turns; 0 of one that never did.
func (c counter) read() (float64, error) {
	var b [24]byte // the count, and ns that it was enabled and ran
	if n, err := unix.Read(c.fd, b[:]); err != nil || n != len(b) {
		return 0, fmt.Errorf("read the counter of %s: %d bytes, %w", c.name, n, err)
	}
	ne := binary.NativeEndian
	return scaled(ne.Uint64(b[:]), ne.Uint64(b[8:]), ne.Uint64(b[16:])), nil
}

func scaled(value, enabled, running uint64) float64 {
	if running == 0 {
		return 0
	}
	return float64(value) * float64(enabled) / float64(running)
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
