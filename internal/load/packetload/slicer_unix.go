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

// Turns runs a plan's slices in order, for engines that send from user space.
// slice sends one slice over a lane, after guard frames; since returns the
// time since the start of the run, in ns. out records what was sent, however
// the run ends; the end of a context is not an error.
//
// Slices that were disturbed by other work do not count, so their time is not part of
// the plan's, as long as the run takes no more than twice that: with other programs
// running half of all slices are disturbed, which would widen intervals.
func Turns(ctx context.Context, p load.SlicePlan, lanes int, out *load.Sliced, slice func(lane, guard int, since func() uint64) (load.Slice, error)) error {
	return turns(ctx, p, lanes, out, wire.NewClock().Now, slice)
}

// turns implements Turns with a given clock.
func turns(ctx context.Context, p load.SlicePlan, lanes int, out *load.Sliced, now func() uint64, slice func(lane, guard int, since func() uint64) (load.Slice, error)) error {
	start, turn := now(), max(1, p.Turn)
	since := func() uint64 { return now() - start }
	warmed, disturbed, round := uint64(0), uint64(0), turn*lanes
	for i, lane := range p.Order {
		if i == round {
			warmed = since()
		}
		spent := since() - warmed
		if p.Over(i, round, time.Duration(max(spent-disturbed, spent/2))) || ctx.Err() != nil {
			break
		}
		if p.Before != nil && i%turn == 0 {
			if err := p.Before(int(lane)); err != nil {
				return err
			}
		}
		guard := p.Guard
		if i%turn == 0 && i < round {
			guard = p.Warm
		}
		begun := since()
		one, err := slice(int(lane), guard, since)
		if err != nil {
			return err
		}
		if one.Flags&load.Switched != 0 && i >= round {
			disturbed += since() - begun
		}
		one.Lane = int(lane)
		out.Slices = append(out.Slices, one)
	}
	out.Seconds = float64(since()) / 1e9
	return nil
}
