//go:build linux || freebsd

package lab

import (
	"time"

	"linerate/internal/load/wire"
)

// Local is the machine this process runs on.
type Local struct{}

var _ Machine = Local{}

// Now returns the wall-clock time, with a monotonic reading.
func (Local) Now() time.Time { return time.Now() }

// Spin times the calibration on a thread pinned to the CPU.
func (Local) Spin(cpu int) (ns float64, err error) {
	err = wire.OnCPU(cpu, func(int) error {
		ns = fastestSpin(time.Now)
		return nil
	})
	return ns, err
}

// The calibration runs several short spins: the fastest shows the CPU's
// speed, even if others are interrupted.
const (
	spinRounds = 7
	spinSteps  = 400_000
)

// spin is a chain of dependent multiplications, whose duration depends only
// on the CPU's clock rate (PCG's step, O'Neill 2014).
//
//go:noinline
func spin(seed uint64) uint64 {
	x := seed
	for range spinSteps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// fastestSpin returns the shortest duration of a spin on the calling thread, in ns.
func fastestSpin(now func() time.Time) float64 {
	best := time.Duration(1<<63 - 1)
	sum := uint64(1)
	for range spinRounds {
		start := now()
		sum = spin(sum)
		best = min(best, now().Sub(start))
	}
	if sum == 0 { // never true; keeps the work from being optimised away
		best++
	}
	return float64(best.Nanoseconds())
}
