package xdpload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"linerate/internal/load"
)

// worker is a program on one CPU, with its share of the flows.
type worker struct {
	liveCall
	objs  generateObjects
	flows int
}

const (
	// pause is how long a worker at maximum rate pauses when the device refused
	// frames: less than the time that a veth's ring of 256 frames takes to empty.
	pause = 10 * time.Microsecond
	// catchUp is the factor by which a late paced worker exceeds its rate.
	catchUp = 4
)

// reset prepares a worker's state for a run.
func (w *worker) reset(g *Generator, i int, t transmission) error {
	c := generateGenerateControl{Limit: math.MaxUint64, Run: runWord(t.run), Pause: uint64(pause), Batch: uint64(g.batch(t))}
	w.batch.Store(g.batch(t))
	if n := t.limit.Packets; n > 0 {
		c.Limit = (n + uint64(len(g.workers)-1-i)) / uint64(len(g.workers))
	}
	if pps := t.target / float64(len(g.workers)); pps > 0 {
		c.Interval = max(1, uint64(math.Round(65536e9/pps)))
		c.Least = c.Interval / catchUp
	}
	s := generateGenerateState{Refused: t.refused, Random: randomFrom(g.spec.Seed + uint64(i))}
	if err := errors.Join(w.objs.Control.Set(c), w.objs.State.Set(s)); err != nil {
		return fmt.Errorf("reset the generator: %w", err)
	}
	if g.framer.Flows().Random {
		return zero(w.objs.Sequences, w.flows)
	}
	return nil
}

// randomFrom derives a nonzero state from a seed.
func randomFrom(seed uint64) uint64 { return (seed+1)*0x9E3779B97F4A7C15 | 1 }

func runWord(run uint16) uint64 {
	b := make([]byte, load.StampBytes)
	load.PutStamp(b, load.Stamp{Run: run})
	return uint64(binary.LittleEndian.Uint32(b[2:]))
}

// rebatch continues with batches of n frames, in a new call.
func (w *worker) rebatch(n uint32) error {
	if err := change(w.objs.Control, func(c *generateGenerateControl) { c.Batch = uint64(n) }); err != nil {
		return err
	}
	w.batch.Store(n)
	w.wake()
	return nil
}

func (w *worker) state() (generateGenerateState, error) {
	return read[generateGenerateState](w.objs.State, "state")
}

func (w *worker) done() (bool, error) {
	s, err := w.state()
	return s.Done != 0, err
}

// release lets a worker send from start on. The deadline must be set before the
// program sees the start.
func (w *worker) release(start uint64, duration time.Duration) error {
	err := change(w.objs.Control, func(c *generateGenerateControl) {
		if c.Deadline = math.MaxUint64; duration > 0 {
			c.Deadline = start + uint64(duration)
		}
	})
	if err != nil {
		return err
	}
	return change(w.objs.Control, func(c *generateGenerateControl) { c.Start = start })
}

// stop stops a worker: first its program, then the call that runs it.
func (w *worker) stop() error {
	if over, err := w.done(); err == nil && !over {
		err := change(w.objs.Control, func(c *generateGenerateControl) { c.Start, c.Deadline = max(1, c.Start), 1 })
		if err != nil {
			return err
		}
	}
	return w.end(w.done)
}
