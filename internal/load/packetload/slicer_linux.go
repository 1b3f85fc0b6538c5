package packetload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
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
	if n < 1 || n*spec.Ways() > load.MaxLanes {
		return nil, fmt.Errorf("%d lanes: from 1 to %d", n, load.MaxLanes/spec.Ways())
	}
	if _, err := load.NewFramer(spec); err != nil {
		return nil, err
	}
	if spec.Back != nil {
		if _, err := load.NewFramer(*spec.Back); err != nil {
			return nil, err
		}
	}
	return &slicer{spec}, nil
}

// Close has nothing to free: sockets live as long as a run.
func (s *slicer) Close() error { return nil }

// laneEnds are a lane's sender and receiver in one run, in one direction.
type laneEnds struct {
	gen  *Generator
	rx   load.Receiver
	step *Stepper
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
	out.Engine = AFPacket
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

// open opens the lanes' ends: of a lane of two ways one after the other.
func (s *slicer) open(lanes []load.Lane) (all []laneEnds, err error) {
	for _, lane := range lanes {
		if all, err = openWay(all, s.spec, lane.From, lane.To); err != nil {
			return all, err
		}
		if s.spec.Back == nil {
			continue
		}
		if all, err = openWay(all, *s.spec.Back, lane.To, lane.From); err != nil {
			return all, err
		}
	}
	return all, nil
}

// openWay opens one more way of a lane. What is open when it fails is returned
// with the error.
func openWay(all []laneEnds, spec load.Spec, from, to port.Port) ([]laneEnds, error) {
	spec.Device, spec.Stream, spec.Back = from.Device, uint16(len(all)+1), nil
	rx, err := engine{}.NewReceiver(to.Device, to.In, load.Watch{Stream: int(spec.Stream), MaxFlows: 2 * max(1, spec.Flows.Count)})
	if err != nil {
		return all, err
	}
	gen, err := newGenerator(spec, from.In)
	return append(all, laneEnds{rx: rx, gen: gen}), err
}

// turns goes through the plan, on a thread of its own.
func (s *slicer) turns(ctx context.Context, all []laneEnds, p load.SlicePlan, out *load.Sliced) error {
	ways := s.spec.Ways()
	return Turns(ctx, p, len(all)/ways, out, func(lane, guard int, since func() uint64) (one load.Slice, err error) {
		w := all[lane*ways : (lane+1)*ways]
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

// slice sends whole batches, of which each way of the lane has its share: so many
// frames at least, and for so long. It returns how many, and how long the calls
// took.
func slice(ways []laneEnds, least int, ns uint64) (frames int, took uint64, err error) {
	for frames < least || took < ns {
		for _, w := range ways {
			n, calls, err := w.step.Step(Batch / len(ways))
			frames, took = frames+n, took+calls
			if err != nil {
				return frames, took, err
			}
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
	ways := s.spec.Ways()
	for deadline := time.Now().Add(drainFor); ; time.Sleep(5 * time.Millisecond) {
		var lost uint64
		out.Lanes = make([]load.LaneAccount, len(all)/ways)
		for i, l := range all {
			got, err := l.rx.Snapshot()
			if err != nil {
				return err
			}
			a := l.step.Account(got)
			out.Lanes[i/ways] = out.Lanes[i/ways].Plus(a)
			lost += a.Lost
		}
		if lost == 0 || time.Now().After(deadline) {
			return nil
		}
	}
}
