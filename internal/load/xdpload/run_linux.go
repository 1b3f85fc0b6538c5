package xdpload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"linerate/internal/load"
	"linerate/internal/load/wire"
)

const (
	armTimeout   = 5 * time.Second
	pollEvery    = 5 * time.Millisecond
	startIn      = uint64(time.Millisecond) // after all workers run
	adaptAfter   = 2 * largeBatch           // in refused frames
	beforeEnding = 10 * time.Millisecond    // so that the last frames can arrive
)

// transmission is one run of a generator.
type transmission struct {
	limit   load.Limit
	target  float64 // frames per second; 0: maximum
	run     uint16
	refused uint64 // frames refused by the device before the run
}

func (g *Generator) transmission(o load.Offer) transmission {
	t := transmission{limit: o.Limit, target: o.Rate.FramesPerSecond(g.spec.Sizes), run: load.RunAt(wire.Monotonic())}
	t.refused, _ = g.refused.Count()
	return t
}

// Run sends until the limit, or until ctx is done.
func (g *Generator) Run(ctx context.Context, o load.Offer) (load.Sent, error) {
	if err := g.Probe(ctx); err != nil {
		return load.Sent{Engine: Name, TargetPPS: o.Rate.FramesPerSecond(g.spec.Sizes)}, err
	}
	t := g.transmission(o)
	for i, w := range g.workers {
		if err := w.reset(g, i, t); err != nil {
			return load.Sent{}, err
		}
	}
	for _, w := range g.workers {
		w.start(g.in, w.objs.Generate, w.done)
	}
	err := g.await(ctx, t)
	for _, w := range g.workers {
		err = errors.Join(err, w.stop())
	}
	if err != nil {
		return load.Sent{}, err
	}
	return g.finish(ctx, t)
}

// await starts all workers at the same time and waits until they are done.
func (g *Generator) await(ctx context.Context, t transmission) error {
	if err := g.arm(ctx, t); err != nil || ctx.Err() != nil {
		return err
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		done, err := g.states()
		if err == nil && !done {
			err = g.adapt(t)
		}
		if err != nil || done {
			return err
		}
	}
}

// batch returns the size of a run's batches.
func (g *Generator) batch(t transmission) uint32 {
	switch {
	case t.target > 0:
		return pacedBatch
	case g.large:
		return largeBatch
	}
	return batch
}

// adapt switches to large batches, for this run and later ones, if the peer
// refuses frames: it is then on another CPU.
func (g *Generator) adapt(t transmission) error {
	if g.large || t.target > 0 {
		return nil
	}
	refused, _ := g.refused.Count()
	if refused-t.refused < adaptAfter {
		return nil
	}
	g.large = true
	for _, w := range g.workers {
		if err := w.rebatch(largeBatch); err != nil {
			return err
		}
	}
	return nil
}

// arm waits until every worker's program runs, then sets the start time.
func (g *Generator) arm(ctx context.Context, t transmission) error {
	deadline := time.Now().Add(armTimeout)
	for _, w := range g.workers {
		for {
			s, err := w.state()
			if err != nil {
				return err
			}
			if s.Armed != 0 || ctx.Err() != nil {
				break
			}
			select {
			case <-w.ended:
				return w.err
			case <-time.After(200 * time.Microsecond):
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the generator's program on CPU %d did not run within %v", w.cpu, armTimeout)
			}
		}
	}
	start := wire.Monotonic() + startIn
	for _, w := range g.workers {
		if err := w.release(start, t.limit.Duration); err != nil {
			return err
		}
	}
	return nil
}

// states reports whether all workers are done.
func (g *Generator) states() (done bool, err error) {
	done = true
	for _, w := range g.workers {
		s, err := w.state()
		if err != nil {
			return false, err
		}
		select {
		case <-w.ended:
			if s.Done == 0 {
				return false, errors.Join(errors.New("a worker of the generator ended early"), w.err)
			}
		default:
		}
		done = done && s.Done != 0
	}
	return done, nil
}

// account sums up the workers.
func (g *Generator) account(t transmission) (load.Sent, []wire.Worker, error) {
	sent := load.Sent{Engine: Name, TargetPPS: t.target}
	var shares []wire.Worker
	var due uint64
	for _, w := range g.workers {
		s, err := w.state()
		c, err2 := read[generateGenerateControl](w.objs.Control, "control")
		if err := errors.Join(err, err2); err != nil {
			return sent, nil, err
		}
		sent.TxPackets += s.Sent
		sent.TxBytes += s.Bytes + 4*s.Sent
		shares = append(shares, wire.Worker{Total: s.Sent})
		seconds, missed := w.elapsed(s, c)
		sent.Seconds = max(sent.Seconds, seconds)
		due += missed
	}
	sent.Unsent = due
	g.settleRefused(&sent, shares, t.refused)
	sent.Pace()
	return sent, shares, nil
}

// elapsed returns how long a worker has sent, excluding setup, and how many
// due frames were not sent in that time.
func (w *worker) elapsed(s generateGenerateState, c generateGenerateControl) (seconds float64, unsent uint64) {
	if s.Began == 0 {
		return 0, 0
	}
	end := s.Now
	if s.Done != 0 {
		end = s.Ended
		if c.Deadline > c.Start && end > c.Deadline && end-c.Deadline < uint64(time.Second) {
			end = c.Deadline
		}
	}
	if end <= c.Start {
		return 0, 0
	}
	if c.Interval == 0 {
		return float64(end-c.Start) / 1e9, 0
	}
	// The interval after the last frame is part of the time for n frames.
	scheduled := (end - c.Start) << 16
	if s.Sent >= c.Limit {
		scheduled = max(scheduled, s.Due)
	}
	if behind := int64(scheduled - s.Due); behind > 0 {
		unsent = uint64(behind) / c.Interval
	}
	if left := c.Limit - s.Sent; c.Limit != math.MaxUint64 {
		unsent = min(unsent, left)
	}
	return float64(scheduled) / 65536e9, unsent
}

// settleRefused records the frames that the device refused: on a veth the peer's
// ring refused them, and they are lost; on other devices they were never sent.
func (g *Generator) settleRefused(sent *load.Sent, shares []wire.Worker, before uint64) {
	after, _ := g.refused.Count()
	n := after - before
	if g.device.Veth {
		sent.Refused = &n
		return
	}
	zero := uint64(0)
	sent.Refused = &zero
	n = min(n, sent.TxPackets)
	if sent.TxPackets > 0 {
		sent.TxBytes -= uint64(float64(sent.TxBytes) / float64(sent.TxPackets) * float64(n))
	}
	sent.TxPackets -= n
	if sent.TargetPPS > 0 {
		sent.Unsent += n
	}
	for i := range shares {
		take := min(n, shares[i].Total)
		shares[i].NeverLeft = take
		n -= take
	}
}

// finish completes the account of a run.
func (g *Generator) finish(ctx context.Context, t transmission) (load.Sent, error) {
	time.Sleep(beforeEnding)
	sent, shares, err := g.account(t)
	if err != nil {
		return sent, err
	}
	if sent.TxPackets > 0 || sent.Unsent > 0 {
		wire.CloseRun(ctx, g.socket.Send, g.spec, g.framer, t.run, shares, &sent)
	}
	if sent.TargetPPS == 0 && sent.Seconds > 0 {
		sent.Warnings = append(sent.Warnings, fmt.Sprintf("send times are per batch of %d frames, about %.1f µs: latencies are up to that much too long", g.batch(t), float64(g.batch(t))/sent.TxPPS*1e6*float64(len(g.workers))))
	}
	return sent, ctx.Err()
}
