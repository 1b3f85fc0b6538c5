package instrument

import (
	"errors"

	"golang.org/x/sys/unix"

	"linerate/internal/study"
)

// events are the counters that are read, in the order they are shown.
var events = []Event{
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
		if cpus, err = Online(); err != nil {
			return nil, err
		}
	}
	var open []*Counter
	var lack []study.Missing
	for _, e := range events {
		for _, cpu := range cpus {
			one, err := e.Open(cpu)
			if err != nil {
				lack = append(lack, study.Missing{What: e.Name, Why: Because(err)})
				break
			}
			open = append(open, one)
		}
	}
	return func() (counts []study.PerPacket, _ []study.Missing, failed error) {
		for _, o := range open {
			r, err := o.Read()
			n := r.Since(Reading{}) // 0 of one that never ran
			failed = errors.Join(failed, err, o.Close())
			if last := len(counts) - 1; last >= 0 && counts[last].Event == o.event.Name {
				counts[last].Count += n
				continue
			}
			counts = append(counts, study.PerPacket{Event: o.event.Name, Count: n})
		}
		return counts, lack, failed
	}, nil
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
