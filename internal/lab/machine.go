//go:build linux || freebsd

package lab

import (
	"time"

	"linerate/internal/load/wire"
)

// Local is the machine this process runs on.
type Local struct{}

var _ Machine = Local{}

// Now is the wall clock with the monotonic one in it.
func (Local) Now() time.Time { return time.Now() }

// Spin pins a thread to the CPU and times the calibration there.
func (Local) Spin(cpu int) (ns float64, err error) {
	err = wire.OnCPU(cpu, func(int) error {
		ns = fastestSpin(time.Now)
		return nil
	})
	return ns, err
}

// Spins of a calibration: the fastest of several short ones tells the CPU's
// speed, whatever interrupts the others.
const (
	spinRounds = 7
	spinSteps  = 400_000
)

// spin is a chain of multiplications, each waiting for the last: its time is
// the CPU's clock and nothing else (PCG's step, O'Neill 2014).
//
//go:noinline
func spin(seed uint64) uint64 {
	x := seed
	for range spinSteps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// fastestSpin times spins on the calling thread, in ns.
func fastestSpin(now func() time.Time) float64 {
	best := time.Duration(1<<63 - 1)
	sum := uint64(1)
	for range spinRounds {
		start := now()
		sum = spin(sum)
		best = min(best, now().Sub(start))
	}
	if sum == 0 { // never; keeps the work from being optimised away
		best++
	}
	return float64(best.Nanoseconds())
}
