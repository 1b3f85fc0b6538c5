package packetload

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/port"
)

// slicer sends one load.Spec over several lanes in turn, from user space,
// with one socket and one receiver per lane, all open at once.
//
// A frame that sendmmsg(2) sends into a veth has passed the chain when the call
// returns, unless the kernel left it to ksoftirqd. The time of a slice is that
// of its calls, without the time in user space between them.
type slicer struct{ spec load.Spec }

var _ load.Interleaver = engine{}

// NewSlicer checks that spec can be sent.
func (engine) NewSlicer(spec load.Spec, n int) (load.Slicer, error) {
	if err := checkLanes(spec, n); err != nil {
		return nil, err
	}
	return &slicer{spec}, nil
}

// Close does nothing: sockets live as long as a run.
func (s *slicer) Close() error { return nil }

// drainFor is how long receivers may take to read what has arrived.
const drainFor = time.Second

// Run sends over the lanes until the plan is complete or ctx is done.
func (s *slicer) Run(ctx context.Context, over []load.Lane, p load.SlicePlan) (out load.Sliced, err error) {
	r, err := openLanes(AFPacket, s.spec, over, openLane)
	defer func() { err = errors.Join(err, r.closeAll()) }()
	if err != nil {
		return out, err
	}
	return r.run(ctx, p, drainFor, func(ways []*lane, guard int, since func() uint64) (one load.Slice, err error) {
		if _, _, err := slice(ways, guard, 0); err != nil {
			return one, err
		}
		before, begun := leftCPU(), since()
		frames, took, err := slice(ways, 1, uint64(p.Slice))
		one = load.Slice{Frames: uint32(frames), NS: uint32(took), At: uint32(begun / 1000)}
		if leftCPU() != before {
			one.Flags |= load.Switched
		}
		return one, err
	})
}

func openLane(l *lane, spec load.Spec, from, to port.Port, w load.Watch) error {
	rx, err := newReceiver(to.Device, to.In, w)
	if err != nil {
		return err
	}
	l.rx, l.close = &rx.Receiver, rx.Close
	l.gen, err = newGenerator(spec, from.In)
	return err
}

// slice sends whole batches, shared among the lane's ways, until both least
// frames and ns nanoseconds are reached. It returns the number of frames, and the
// time that the calls took.
func slice(ways []*lane, least int, ns uint64) (frames int, took uint64, err error) {
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

// leftCPU returns how often this thread has been switched off its CPU.
func leftCPU() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return u.Nvcsw + u.Nivcsw
}
