//go:build linux || freebsd

package packetload

import (
	"context"
	"errors"
	"time"

	"linerate/internal/load"
	"linerate/internal/port"
)

// Spent returns the CPU time that the chain behind a port has used, for all
// lanes together, once no frames are in flight.
type Spent func() (time.Duration, error)

// interleaver is an engine whose slices are measured by the kernel's
// accounting of the CPU time of the threads that forward the frames.
type interleaver struct {
	bpfEngine
	spent Spent
}

// burst is the number of frames in flight at once: fewer than any queue on
// their way holds. Where net.isr.dispatch queues them, that is 256
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

// Close does nothing: descriptors live as long as a run.
func (s *bpfSlicer) Close() error { return nil }

// Run sends over the lanes until the plan is complete or ctx is done.
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

// slice sends a lane's guard frames and then, in bursts that fit in its
// queues, frames for the duration of the slice.
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

// aim sets the number of frames so that a slice takes slightly longer than
// least.
func (l *lane) aim(took time.Duration, frames uint32, least time.Duration) {
	want := burst
	if took > 0 {
		want = int(1.1*float64(frames)*float64(least)/float64(took)) + Batch
	}
	l.frames = min(want, burst) / Batch * Batch
}

// send sends n frames, in bursts that fit in the queues, and waits until they
// have arrived.
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

// await reads until all sent frames have arrived, or nothing more arrives:
// missing frames are then counted as lost, and not waited for again.
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

// How long nothing may arrive before missing frames count as lost.
const (
	bpfPollEvery = 50 * time.Microsecond
	idleMost     = 10000 // half a second: an emulated or loaded machine stalls for tens of ms
)
