package forward

import (
	"context"
	"fmt"

	"linerate/internal/load"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// slicing is the Way of mode cost: one endless stream moves from arm to arm,
// slice by slice, over all of them and the bypass.
type slicing struct {
	*Instance
	sliced load.Sliced
}

// Ready implements Way: it loads the slicer, which serves all instances of a part, and warms
// each arm up before its first slice.
func (w *slicing) Ready(context.Context) error { return w.openSlicer() }

// Close implements Way: it leaves the slicer to the next instance.
func (w *slicing) Close() {}

// Send implements Way: it sends over the arms in turn. A failure affects all of them.
func (w *slicing) Send(ctx context.Context) error {
	task := w.Task()
	plan := study.Slicing(&task.Spec, w.Part, w.how, task.Seed, w.raw.Block, w.raw.Attempt, len(w.Shares))
	if w.how == study.Alternating {
		plan.Before = w.alternate(ctx)
	}
	lanes := make([]load.Lane, len(w.Shares))
	for i, s := range w.Shares {
		lanes[i] = load.Lane{From: s.Generator, To: s.Receiver}
	}
	return w.Watched(func() error {
		var failed error
		w.sliced, failed = w.up.slicer.Run(ctx, lanes, plan)
		for _, s := range w.Shares {
			s.Failed = failed
		}
		return ctx.Err()
	}, testbed.Arm.AllDrops)
}

// alternate applies the global settings of the arm whose slices come next.
func (w *slicing) alternate(ctx context.Context) func(int) error {
	global := make([][]setting.Setting, len(w.Shares))
	for i, s := range w.Shares {
		v, _ := w.Spec().Variant(s.Name)
		global[i] = v.ApplyGlobal()
	}
	return func(lane int) error { return w.Bed.(testbed.Multi).Global(ctx, global[lane]) }
}

// Account implements Way: it stores the raw slices, and records each arm's results.
func (w *slicing) Account() error {
	w.raw.Slices = w.sliced.Slices
	data, err := w.raw.Encode()
	if err != nil {
		return err
	}
	name := w.raw.RawName()
	sum, err := w.store(name, data)
	if err != nil {
		return err
	}
	lanes := w.raw.Condense()
	for i, s := range w.Shares {
		o := &s.Observed
		o.Interleaved.Raw, o.Interleaved.SHA256, o.Interleaved.Lanes = name, sum, lanes[i]
		if i < len(w.sliced.Lanes) {
			o.Sent, o.Received = accounts(w.sliced, i)
		}
	}
	return nil
}

// openSlicer loads the slicer, unless the part already has it.
func (w *slicing) openSlicer() error {
	if w.up.slicer != nil && w.up.part == w.Part.Name {
		return nil
	}
	if err := w.up.closeSlicer(); err != nil {
		return err
	}
	s := w.Spec()
	ends := study.Endpoints{From: w.Shares[0].Generator, To: w.Shares[0].Receiver}
	spec, err := study.Traffic(s, w.Part, ends, ends)
	if err != nil {
		return err
	}
	if cpu := w.Bed.Describe().CPUs.Generator; cpu >= 0 {
		spec.CPUs = []int{cpu}
	}
	made, err := w.Engine.(load.Interleaver).NewSlicer(spec, len(s.Arms())+1)
	if err != nil {
		return fmt.Errorf("prepare the traffic: %w", err)
	}
	w.up.slicer, w.up.part = made, w.Part.Name
	return nil
}

func (u *up) closeSlicer() error {
	if u.slicer == nil {
		return nil
	}
	err := u.slicer.Close()
	u.slicer, u.part = nil, ""
	return err
}

// accounts returns a lane's counts in the form that a separate generator and receiver
// report.
func accounts(s load.Sliced, lane int) (load.Sent, load.Received) {
	l := s.Lanes[lane]
	sent := load.Sent{Engine: s.Engine, TxPackets: l.TxPackets, TxBytes: l.TxBytes, Seconds: s.Seconds}
	got := load.Received{Engine: s.Engine, RxPackets: l.RxPackets, RxBytes: l.RxBytes, Seconds: s.Seconds, Lost: &l.Lost,
		Duplicated: l.Duplicated, Reordered: l.Reordered, FlowsSeen: l.Flows, TxPackets: &l.TxPackets}
	return sent, got
}
