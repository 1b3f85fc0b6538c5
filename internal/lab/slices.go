package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"linerate/internal/load"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/testbed"
)

// slicing is mode cost's way: one endless stream goes from arm to arm, slice by
// slice, over all of them and the bypass.
type slicing struct {
	run    *Session
	in     *instance
	sliced load.Sliced
}

// takesTurns reports whether the engine can do that.
func (r *Session) takesTurns() bool {
	_, can := r.Engine.(load.Interleaver)
	return can
}

// ready loads what sends and receives; it serves all instances of a part, and
// warms each arm up before its first slice.
func (w *slicing) ready(context.Context) error { return w.run.openSlicer(w.in) }

// close leaves the slicer to the next instance.
func (w *slicing) close() {}

// send sends over the arms in turn. What fails, fails them all.
func (w *slicing) send(ctx context.Context) error {
	in, r := w.in, w.run
	plan := forward.Slicing(&r.task.Spec, in.part, in.how, r.task.Seed, in.Block, in.Attempt, len(in.shares))
	if in.how == study.Alternating {
		plan.Before = w.alternate(ctx)
	}
	lanes := make([]load.Lane, len(in.shares))
	for i, s := range in.shares {
		lanes[i] = load.Lane{From: s.Generator, To: s.Receiver}
	}
	return in.watched(func() error {
		var failed error
		w.sliced, failed = r.slicer.Run(ctx, lanes, plan)
		for _, s := range in.shares {
			s.failed = failed
		}
		return ctx.Err()
	}, allDrops)
}

// alternate gives the kernel the global settings of the arm whose slices come
// next.
func (w *slicing) alternate(ctx context.Context) func(int) error {
	global := make([][]setting.Setting, len(w.in.Arms))
	for i, name := range w.in.Arms {
		v, _ := w.run.task.Spec.Variant(name)
		global[i] = v.ApplyGlobal()
	}
	return func(lane int) error { return w.run.bed.(testbed.Multi).Global(ctx, global[lane]) }
}

// account keeps the raw slices, and notes what they say of each arm.
func (w *slicing) account() error {
	w.in.Slices = w.sliced.Slices
	name, sum, err := w.run.keep(w.in)
	if err != nil {
		return err
	}
	lanes := w.in.Condense()
	for i, s := range w.in.shares {
		s.o.Interleaved.Raw, s.o.Interleaved.SHA256, s.o.Interleaved.Lanes = name, sum, lanes[i]
		if i < len(w.sliced.Lanes) {
			s.o.Sent, s.o.Received = accounts(w.sliced, i)
		}
	}
	return nil
}

// openSlicer loads what sends and receives, unless the part has it already.
func (r *Session) openSlicer(in *instance) error {
	if r.slicer != nil && r.slicing == in.Part {
		return nil
	}
	if err := r.closeSlicer(); err != nil {
		return err
	}
	s := &r.task.Spec
	from, to := in.shares[0].Generator, in.shares[0].Receiver
	spec, err := forward.Traffic(s, in.part, forward.Endpoints{From: from, To: to}, forward.Endpoints{From: from, To: to})
	if err != nil {
		return err
	}
	if cpu := r.bed.Describe().CPUs.Generator; cpu >= 0 {
		spec.CPUs = []int{cpu}
	}
	made, err := r.Engine.(load.Interleaver).NewSlicer(spec, len(s.Arms())+1)
	if err != nil {
		return fmt.Errorf("prepare the traffic: %w", err)
	}
	r.slicer, r.slicing = made, in.Part
	return nil
}

func (r *Session) closeSlicer() error {
	if r.slicer == nil {
		return nil
	}
	err := r.slicer.Close()
	r.slicer, r.slicing = nil, ""
	return err
}

// keep hands the raw slices on, and returns their file's name and hash.
func (r *Session) keep(in *instance) (name, sum string, err error) {
	data, err := in.Encode()
	if err != nil {
		return "", "", err
	}
	hash := sha256.Sum256(data)
	if r.Keep != nil {
		if err := r.Keep(in.RawName(), data); err != nil {
			return "", "", err
		}
	}
	return in.RawName(), hex.EncodeToString(hash[:]), nil
}

// accounts are a lane's, as a generator and a receiver of its own would have
// told them.
func accounts(s load.Sliced, lane int) (load.Sent, load.Received) {
	l := s.Lanes[lane]
	sent := load.Sent{Engine: s.Engine, TxPackets: l.TxPackets, TxBytes: l.TxBytes, Seconds: s.Seconds}
	got := load.Received{Engine: s.Engine, RxPackets: l.RxPackets, RxBytes: l.RxBytes, Seconds: s.Seconds, Lost: &l.Lost,
		Duplicated: l.Duplicated, Reordered: l.Reordered, FlowsSeen: l.Flows, TxPackets: &l.TxPackets}
	return sent, got
}
