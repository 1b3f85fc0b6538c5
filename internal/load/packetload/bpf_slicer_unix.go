//go:build linux || freebsd

package packetload

import (
	"context"
	"errors"
	"time"

	"linerate/internal/load"
	"linerate/internal/port"
)

// Spent is the CPU time that the chain behind a port has taken, of all lanes
// together, once nothing is under way in it.
type Spent func() (time.Duration, error)

// interleaver is an engine whose slices are measured by the kernel's own
// account of the CPU time of the threads that move the frames.
type interleaver struct {
	bpfEngine
	spent Spent
}

// burst is how many frames are under way at once: fewer than any queue on their
// way holds. Where net.isr.dispatch has them queued, that is 256
// (net.isr.defaultqlimit); epair(4) holds thousands.
const burst = 3 * Batch

// NewSlicer checks that spec can be sent.
func (e interleaver) NewSlicer(spec load.Spec, n int) (load.Slicer, error) {
	if spec.Back != nil {
		return nil, load.NotHere(errors.New("bpf(4) sends one way at a time here"))
	}
	if err := checkLanes(spec, n); err != nil {
		return nil, err
	}
	return &bpfSlicer{e, spec}, nil
}

type bpfSlicer struct {
	interleaver
	spec load.Spec
}

// Close has nothing to free: descriptors live as long as a run.
func (s *bpfSlicer) Close() error { return nil }

// Run sends over the lanes until the plan is through or ctx ends.
func (s *bpfSlicer) Run(ctx context.Context, over []load.Lane, p load.SlicePlan) (out load.Sliced, err error) {
	r, err := s.lanes(over)
	defer func() { err = errors.Join(err, r.closeAll()) }()
	if err != nil {
		return out, err
	}
	return r.run(ctx, p, 0, func(ways []*lane, guard int, since func() uint64) (load.Slice, error) {
		return s.slice(ways[0], guard, p.Slice, since)
	})
}

func (s *bpfSlicer) lanes(over []load.Lane) (*lanes, error) {
	return openLanes(BPF, s.spec, over, func(l *lane, spec load.Spec, from, to port.Port, w load.Watch) (err error) {
		if l.rx, err = s.capture(to.Device, w, false); err != nil {
			return err
		}
		l.close = l.rx.Close
		l.gen, err = s.generator(spec, from.In)
		return err
	})
}

// slice sends a lane's guard and then, in bursts that its queues hold, for so
// long as the slice is to take.
func (s *bpfSlicer) slice(l *lane, guard int, least time.Duration, since func() uint64) (one load.Slice, err error) {
	if _, err := l.send(guard); err != nil {
		return one, err
	}
	one.At = uint32(since() / 1000)
	before, err := s.spent()
	if err != nil {
		return one, err
	}
	for took := time.Duration(0); took < least; one.NS = uint32(took) {
		arrived, err := l.send(l.frames)
		if err != nil {
			return one, err
		}
		if !arrived {
			one.Flags |= load.Underway
		}
		now, err := s.spent()
		if err != nil {
			return one, err
		}
		one.Frames += uint32(l.frames)
		took = now - before
		l.aim(took, one.Frames, least)
	}
	return one, nil
}

// aim sets how many frames a slice needs to take a little longer than its
// least.
func (l *lane) aim(took time.Duration, frames uint32, least time.Duration) {
	want := burst
	if took > 0 {
		want = int(1.1*float64(frames)*float64(least)/float64(took)) + Batch
	}
	l.frames = min(want, burst) / Batch * Batch
}

// send sends n frames, no more at once than the queues hold, and waits until
// they have arrived.
func (l *lane) send(n int) (arrived bool, err error) {
	arrived = true
	for n > 0 && err == nil {
		most := min(n, burst)
		for left := most; left > 0; {
			sent, _, err := l.step.Step(min(left, Batch))
			if err != nil {
				return false, err
			}
			left -= sent
		}
		n -= most
		var all bool
		all, err = l.await()
		arrived = arrived && all
	}
	return arrived, err
}

// await reads until all that was sent has arrived, or nothing more comes: what
// is missing then is lost, and not waited for again.
func (l *lane) await() (bool, error) {
	var sent load.LaneAccount
	l.step.Sent(&sent)
	last := l.rx.arrived()
	for idle := 0; idle < idleMost; idle++ {
		if err := l.rx.read(); err != nil {
			return false, err
		}
		got := l.rx.arrived()
		if got+l.lost >= sent.TxPackets {
			return true, nil
		}
		if got != last {
			last, idle = got, 0
		}
		time.Sleep(bpfPollEvery)
	}
	l.lost = sent.TxPackets - last
	return false, nil
}

// For how long nothing may arrive until what is missing is taken for lost.
const (
	bpfPollEvery = 50 * time.Microsecond
	idleMost     = 10000 // half a second: an emulated or loaded machine stalls for tens of ms
)
