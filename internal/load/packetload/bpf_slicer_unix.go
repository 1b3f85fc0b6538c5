//go:build linux || freebsd

package packetload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/wire"
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
	if n < 1 || n > load.MaxLanes {
		return nil, fmt.Errorf("%d lanes: from 1 to %d", n, load.MaxLanes)
	}
	if _, err := load.NewFramer(spec); err != nil {
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

// lane is a lane's sender and receiver in one run.
type lane struct {
	gen     *Generator
	step    *Stepper
	capture *capture
	frames  int    // of a slice: as many as its time asks for
	lost    uint64 // so far
}

func (l *lane) close() error {
	var err error
	if l.gen != nil {
		err = l.gen.Close()
	}
	return errors.Join(err, l.capture.file.Close())
}

// Run sends over the lanes until the plan is through or ctx ends.
func (s *bpfSlicer) Run(ctx context.Context, lanes []load.Lane, p load.SlicePlan) (out load.Sliced, err error) {
	all, err := s.lanes(lanes)
	defer func() {
		for _, l := range all {
			err = errors.Join(err, l.close())
		}
	}()
	if err != nil {
		return out, err
	}
	out.Engine = BPF
	if err = wire.OnCPU(all[0].step.CPU(), func(int) error { return s.turns(ctx, all, p, &out) }); err != nil {
		return out, err
	}
	return out, errors.Join(ctx.Err(), account(all, &out))
}

func (s *bpfSlicer) lanes(lanes []load.Lane) (all []*lane, err error) {
	run := load.RunAt(wire.Monotonic())
	for i, at := range lanes {
		spec := s.spec
		spec.Device, spec.Stream = at.From.Device, uint16(i+1)
		c, err := s.capture(at.To.Device, load.Watch{Stream: i + 1, MaxFlows: 2 * max(1, spec.Flows.Count)})
		if err != nil {
			return all, err
		}
		l := &lane{capture: c, frames: Batch}
		all = append(all, l)
		if err := unix.SetNonblock(int(c.file.Fd()), true); err != nil {
			return all, fmt.Errorf("read %s without waiting: %w", at.To.Device, err)
		}
		if l.gen, err = s.generator(spec, at.From.In); err != nil {
			return all, err
		}
		l.step = l.gen.Stepper(run)
	}
	return all, nil
}

// turns goes through the plan, on a thread of its own.
func (s *bpfSlicer) turns(ctx context.Context, all []*lane, p load.SlicePlan, out *load.Sliced) error {
	return Turns(ctx, p, len(all), out, func(at, guard int, since func() uint64) (load.Slice, error) {
		return s.slice(all[at], guard, p.Slice, since)
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
	last := l.capture.arrived()
	for idle := 0; idle < idleMost; idle++ {
		if err := l.capture.read(); err != nil {
			return false, err
		}
		got := l.capture.arrived()
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

// account closes the lanes' accounts.
func account(all []*lane, out *load.Sliced) error {
	for _, l := range all {
		got, err := l.capture.received()
		if err != nil {
			return err
		}
		out.Lanes = append(out.Lanes, l.step.Account(got))
	}
	return nil
}
