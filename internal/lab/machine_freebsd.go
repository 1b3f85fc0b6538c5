package lab

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/port"
)

// Stolen returns 0: FreeBSD does not count stolen time. The spin detects it.
func (Local) Stolen(int) (time.Duration, error) { return 0, nil }

// Load1 reads vm.loadavg (struct loadavg: three fixed-point numbers and their
// scale); 0 if there is none.
func (Local) Load1() float64 {
	b, err := unix.SysctlRaw("vm.loadavg")
	if err != nil || len(b) < 24 {
		return 0
	}
	scale := binary.LittleEndian.Uint64(b[16:])
	if scale == 0 {
		return 0
	}
	return float64(binary.LittleEndian.Uint32(b)) / float64(scale)
}

// Meter reports no contention: FreeBSD does not count how long threads wait.
// Cost is measured as CPU time there, which excludes waiting.
func (Local) Meter(in port.Place, _ int) (port.Place, func() time.Duration) {
	return in, func() time.Duration { return 0 }
}

// Watch does the same for a running thread.
func (Local) Watch(int, int) func() time.Duration { return func() time.Duration { return 0 } }
