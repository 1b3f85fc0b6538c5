package packetload

import (
	"sync/atomic"

	"linerate/internal/load"
)

// Stepper sends a Spec from the calling thread, a few frames at a time: what
// an interleaving engine makes its slices of. It uses the first worker of a
// Generator, which must not run meanwhile.
type Stepper struct{ w *worker }

// Stepper begins a run of the generator's stream.
func (g *Generator) Stepper(run uint16) *Stepper {
	w := g.workers[0]
	w.reset(g, 0, transmission{run: run})
	return &Stepper{w}
}

// CPU is where the generator's worker is to run; −1: anywhere.
func (s *Stepper) CPU() int { return s.w.cpu }

// Step sends n frames, Batch at most, and returns how many the device took and
// for how long the system calls took, in ns.
func (s *Stepper) Step(n int) (frames int, took uint64, err error) {
	var never atomic.Bool
	bytes := s.w.fill(n, s.w.clock.Now())
	begun := s.w.clock.Now()
	frames, err = s.w.push(n, &never)
	took = s.w.clock.Now() - begun
	s.w.sent.Add(uint64(frames))
	s.w.bytes.Add(bytes)
	return frames, took, err
}

// Account is what was sent since the Stepper was made, and what of it arrived.
func (s *Stepper) Account(got load.Received) load.LaneAccount {
	a := load.LaneAccount{RxPackets: got.RxPackets, RxBytes: got.RxBytes, Duplicated: got.Duplicated, Reordered: got.Reordered, Flows: got.FlowsSeen}
	s.Sent(&a)
	a.Lost = a.TxPackets - min(a.TxPackets, a.RxPackets)
	return a
}

// Sent adds to an account what was sent since the Stepper was made.
func (s *Stepper) Sent(a *load.LaneAccount) {
	a.TxPackets = s.w.sent.Load()
	a.TxBytes = s.w.bytes.Load() + 4*a.TxPackets
}
