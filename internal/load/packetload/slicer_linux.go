package packetload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/sender"
	"linerate/internal/load/wire"
)

// slicer sends one load.Spec over several lanes in turn, from user space: a
// socket a lane, and a receiver a lane, all of them there at once.
//
// A frame that sendmmsg(2) sends into a veth has passed the chain when the call
// returns, if the kernel did not leave it to ksoftirqd. The time of a slice is
// that of its calls: what user space does between them is not in it.
type slicer struct {
	spec load.Spec
}

var _ load.Interleaver = engine{}

// NewSlicer checks that spec can be sent.
func (engine) NewSlicer(spec load.Spec, n int) (load.Slicer, error) {
	if n < 1 || n > load.MaxLanes {
		return nil, fmt.Errorf("%d lanes: from 1 to %d", n, load.MaxLanes)
	}
	if _, err := load.NewFramer(spec); err != nil {
		return nil, err
	}
	return &slicer{spec}, nil
}

// Close has nothing to free: sockets live as long as a run.
func (s *slicer) Close() error { return nil }

// laneEnds are a lane's sender and receiver in one run.
type laneEnds struct {
	gen  *sender.Generator
	rx   load.Receiver
	step *sender.Stepper
}

func (l laneEnds) close() error {
	if l.gen == nil {
		return l.rx.Close()
	}
	return errors.Join(l.gen.Close(), l.rx.Close())
}

// Run sends over the lanes until the plan is through or ctx ends.
func (s *slicer) Run(ctx context.Context, lanes []load.Lane, p load.SlicePlan) (out load.Sliced, err error) {
	all, err := s.open(lanes)
	defer func() {
		for _, l := range all {
			err = errors.Join(err, l.close())
		}
	}()
	if err != nil {
		return out, err
	}
	run := load.RunAt(wire.Monotonic())
	for i := range all {
		all[i].step = all[i].gen.Stepper(run)
	}
	out.Engine = Name
	err = wire.OnCPU(all[0].step.CPU(), func(int) error {
		return s.turns(ctx, all, p, &out)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = s.account(all, &out)
	}
	return out, err
}

func (s *slicer) open(lanes []load.Lane) (all []laneEnds, err error) {
	for i, lane := range lanes {
		spec := s.spec
		spec.Device, spec.Stream = lane.From.Device, uint16(i+1)
		rx, err := engine{}.NewReceiver(lane.To.Device, lane.To.In, load.Watch{Stream: i + 1, MaxFlows: 2 * max(1, spec.Flows.Count)})
		if err != nil {
			return all, err
		}
		all = append(all, laneEnds{rx: rx})
		if all[i].gen, err = newGenerator(spec, lane.From.In); err != nil {
			return all, err
		}
	}
	return all, nil
}

// turns goes through the plan, on a thread of its own.
func (s *slicer) turns(ctx context.Context, all []laneEnds, p load.SlicePlan, out *load.Sliced) error {
	return sender.Turns(ctx, p, len(all), out, func(lane, guard int, since func() uint64) (one load.Slice, err error) {
		w := all[lane].step
		if _, _, err := slice(w, guard, 0); err != nil {
			return one, err
		}
		before, begun := leftCPU(), since()
		frames, took, err := slice(w, 1, uint64(p.Slice))
		one = load.Slice{Frames: uint32(frames), NS: uint32(took), At: uint32(begun / 1000)}
		if leftCPU() != before {
			one.Flags |= load.Switched
		}
		return one, err
	})
}

// slice sends whole batches: so many frames at least, and for so long. It
// returns how many, and how long the calls took.
func slice(w *sender.Stepper, least int, ns uint64) (frames int, took uint64, err error) {
	for frames < least || took < ns {
		n, calls, err := w.Step(sender.Batch)
		frames, took = frames+n, took+calls
		if err != nil {
			return frames, took, err
		}
	}
	return frames, took, nil
}

// leftCPU is how often this thread has left its CPU.
func leftCPU() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return u.Nvcsw + u.Nivcsw
}

// drainFor is how long receivers may need to read what has arrived.
const drainFor = time.Second

// account closes the lanes' accounts.
func (s *slicer) account(all []laneEnds, out *load.Sliced) error {
	out.Lanes = make([]load.LaneAccount, len(all))
	for deadline := time.Now().Add(drainFor); ; time.Sleep(5 * time.Millisecond) {
		var lost uint64
		for i, l := range all {
			got, err := l.rx.Snapshot()
			if err != nil {
				return err
			}
			a := load.LaneAccount{RxPackets: got.RxPackets, RxBytes: got.RxBytes,
				Duplicated: got.Duplicated, Reordered: got.Reordered, Flows: got.FlowsSeen}
			l.step.Sent(&a)
			a.Lost = a.TxPackets - min(a.TxPackets, a.RxPackets)
			out.Lanes[i] = a
			lost += out.Lanes[i].Lost
		}
		if lost == 0 || time.Now().After(deadline) {
			return nil
		}
	}
}
