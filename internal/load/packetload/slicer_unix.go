//go:build linux || freebsd

package packetload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// lane holds a lane's sender and receiver for one run, in one direction.
type lane struct {
	gen    *Generator // nil if its port could not be opened
	step   *Stepper
	rx     *Receiver
	close  func() error // closes rx
	frames int          // in a slice on bpf(4), from the slice's duration
	lost   uint64       // so far, on bpf(4)
}

// lanes are the lanes of one run; for a spec with two directions each lane has two
// consecutive entries.
type lanes struct {
	engine string
	all    []*lane
	ways   int
}

// checkLanes refuses a spec that cannot be sent over n lanes.
func checkLanes(spec load.Spec, n int) error {
	if n < 1 || n*spec.Ways() > load.MaxLanes {
		return fmt.Errorf("%d lanes: from 1 to %d", n, load.MaxLanes/spec.Ways())
	}
	_, err := load.NewFramer(spec)
	if err == nil && spec.Back != nil {
		_, err = load.NewFramer(*spec.Back)
	}
	return err
}

// openLanes opens both ends of every lane. On an error it also returns what is
// already open.
func openLanes(engine string, spec load.Spec, over []load.Lane, open func(l *lane, spec load.Spec, from, to port.Port, w load.Watch) error) (*lanes, error) {
	r := &lanes{engine: engine, ways: spec.Ways()}
	run := load.RunAt(wire.Monotonic())
	for _, at := range over {
		for way := range r.ways {
			one, from, to := spec, at.From, at.To
			if way > 0 {
				one, from, to = *spec.Back, at.To, at.From
			}
			one.Device, one.Stream, one.Back = from.Device, uint16(len(r.all)+1), nil
			l := &lane{frames: Batch}
			err := open(l, one, from, to, load.Watch{Stream: int(one.Stream), MaxFlows: 2 * max(1, one.Flows.Count)})
			if l.rx != nil {
				r.all = append(r.all, l)
			}
			if err != nil {
				return r, err
			}
			l.step = l.gen.Stepper(run)
		}
	}
	return r, nil
}

// closeAll closes both ends of all lanes.
func (r *lanes) closeAll() (err error) {
	for _, l := range r.all {
		if l.gen != nil {
			err = errors.Join(err, l.gen.Close())
		}
		err = errors.Join(err, l.close())
	}
	return err
}

// run executes the plan on its own thread, then completes the lanes' accounts;
// receivers have the time drain to read what has arrived.
func (r *lanes) run(ctx context.Context, p load.SlicePlan, drain time.Duration, slice func(ways []*lane, guard int, since func() uint64) (load.Slice, error)) (out load.Sliced, err error) {
	out.Engine = r.engine
	err = wire.OnCPU(r.all[0].step.CPU(), func(int) error {
		return Turns(ctx, p, len(r.all)/r.ways, &out, func(at, guard int, since func() uint64) (load.Slice, error) {
			return slice(r.all[at*r.ways:(at+1)*r.ways], guard, since)
		})
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return out, err
	}
	out.Lanes, err = r.account(drain)
	return out, err
}

// account completes the lanes' accounts.
func (r *lanes) account(drain time.Duration) ([]load.LaneAccount, error) {
	for deadline := time.Now().Add(drain); ; time.Sleep(5 * time.Millisecond) {
		var lost uint64
		out := make([]load.LaneAccount, len(r.all)/r.ways)
		for i, l := range r.all {
			got, err := l.rx.Snapshot()
			if err != nil {
				return out, err
			}
			a := l.step.Account(got)
			out[i/r.ways] = out[i/r.ways].Plus(a)
			lost += a.Lost
		}
		if lost == 0 || !time.Now().Before(deadline) {
			return out, nil
		}
	}
}
