//go:build linux || freebsd

package packetload

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/port"
)

// perFrame is the CPU time per frame that the fake kernel reports.
const perFrame = time.Microsecond

// slicing returns a slicer over a link with lanes, whose frames cost perFrame each.
func slicing(t *testing.T, lanes int) (*wireOf, load.Slicer, []load.Lane) {
	t.Helper()
	w, e := newWire(t)
	s, err := interleaver{e, func() (time.Duration, error) { return time.Duration(w.carried.Load()) * perFrame, nil }}.NewSlicer(specOf(10), lanes)
	if err != nil {
		t.Fatal(err)
	}
	var all []load.Lane
	for i := range lanes {
		all = append(all, load.Lane{From: port.Port{In: port.Here, Device: fmt.Sprintf("gen%d", i)}, To: port.Port{In: port.Here, Device: fmt.Sprintf("sink%d", i)}})
	}
	return w, s, all
}

// TestBpfSlicer: slices follow the plan's order and last at least as long as requested, by the time that
// the kernel counts; every frame is in its lane's account, guards included.
func TestBpfSlicer(t *testing.T) {
	w, s, lanes := slicing(t, 2)
	plan := load.SlicePlan{Order: []uint8{1, 0, 0, 1}, Limit: time.Minute, Slice: 100 * perFrame, Guard: 20, Warm: 50}
	got, err := s.Run(t.Context(), lanes, plan)
	if err != nil || len(got.Slices) != len(plan.Order) || len(got.Lanes) != 2 || got.Engine != BPF {
		t.Fatalf("%+v, %v", got, err)
	}
	measured := make([]uint64, 2)
	for i, one := range got.Slices {
		if one.Lane != int(plan.Order[i]) || one.Flags != 0 || time.Duration(one.NS) < plan.Slice || time.Duration(one.NS) != time.Duration(one.Frames)*perFrame {
			t.Errorf("slice %d: %+v", i, one)
		}
		measured[one.Lane] += uint64(one.Frames)
	}
	for i, l := range got.Lanes {
		if want := measured[i] + 50 + 20; l.TxPackets != want || l.RxPackets != want || l.Lost != 0 || l.RxBytes != l.TxBytes || l.Flows != 10 || l.Duplicated+l.Reordered != 0 {
			t.Errorf("lane %d: %+v, want %d frames", i, l, want)
		}
	}
	w.allClosed()
}

// TestSlicerOfALossyLane: a slice reports missing frames, and the account counts them as lost. Waiting
// for them uses a fake clock.
func TestSlicerOfALossyLane(t *testing.T) {
	w, s, lanes := slicing(t, 1)
	w.lose = true
	spent := time.Duration(0)
	s.(*bpfSlicer).spent = func() (time.Duration, error) { spent += perFrame; return spent, nil }
	synctest.Test(t, func(t *testing.T) {
		got, err := s.Run(t.Context(), lanes, load.SlicePlan{Order: []uint8{0}, Limit: time.Minute, Slice: perFrame})
		if err != nil || len(got.Slices) != 1 || got.Slices[0].Flags != load.Underway || got.Slices[0].Frames != Batch {
			t.Fatalf("%+v, %v", got, err)
		}
		if l := got.Lanes[0]; l.TxPackets != Batch || l.Lost != Batch || l.RxPackets != 0 {
			t.Errorf("%+v", l)
		}
	})
	w.allClosed()
}

// TestLostIsWaitedForOnce: frames that were lost earlier are not waited for again.
func TestLostIsWaitedForOnce(t *testing.T) {
	w, s, lanes := slicing(t, 1)
	w.lose = true
	all, err := s.(*bpfSlicer).lanes(lanes)
	if err != nil {
		t.Fatal(err)
	}
	l := all.all[0]
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if arrived, err := l.send(3); arrived || err != nil || time.Since(begun) != idleMost*bpfPollEvery {
			t.Errorf("three lost frames: %v, %v after %v", arrived, err, time.Since(begun))
		}
		if _, _, err := l.step.Step(2); err != nil {
			t.Fatal(err)
		}
		frame := make([]byte, 2048)
		for i := range 5 {
			n, err := unix.Read(w.sinks[""][0], frame)
			if err != nil {
				t.Fatal(err)
			}
			if i >= 3 {
				w.deliver("sink0", frame[:n])
			}
		}
		begun = time.Now()
		if arrived, err := l.await(); !arrived || err != nil || time.Since(begun) > 2*bpfPollEvery {
			t.Errorf("two that arrived behind them: %v, %v after %v", arrived, err, time.Since(begun))
		}
	})
	if out, err := all.account(0); err != nil || out[0].TxPackets != 5 || out[0].RxPackets != 2 || out[0].Lost != 3 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := all.closeAll(); err != nil {
		t.Error(err)
	}
}

// TestSlicerFails: any failure, or the end of the run, leaves nothing open.
func TestSlicerFails(t *testing.T) {
	broken := errors.New("broken")
	plan := load.SlicePlan{Order: []uint8{0, 1}, Limit: time.Minute, Slice: perFrame}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx    context.Context
		change func(*wireOf, *bpfSlicer, *load.SlicePlan)
		want   error
	}{
		"the first receiver":  {t.Context(), func(w *wireOf, _ *bpfSlicer, _ *load.SlicePlan) { w.refuse, w.after = broken, 0 }, broken},
		"the second's sender": {t.Context(), func(w *wireOf, _ *bpfSlicer, _ *load.SlicePlan) { w.refuse, w.after = broken, 3 }, broken},
		"the kernel's account": {t.Context(), func(_ *wireOf, s *bpfSlicer, _ *load.SlicePlan) {
			s.spent = func() (time.Duration, error) { return 0, broken }
		}, broken},
		"a change between turns": {t.Context(), func(_ *wireOf, _ *bpfSlicer, p *load.SlicePlan) {
			p.Before = func(int) error { return broken }
		}, broken},
		"an interrupt": {ended, func(*wireOf, *bpfSlicer, *load.SlicePlan) {}, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			w, s, lanes := slicing(t, 2)
			p := plan
			c.change(w, s.(*bpfSlicer), &p)
			if _, err := s.Run(c.ctx, lanes, p); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			w.allClosed()
		})
	}
}

func TestNewSlicerRefuses(t *testing.T) {
	_, e := newWire(t)
	both, small := specOf(1), specOf(1)
	both.Back = &load.Spec{}
	small.Sizes = []int{20}
	for name, c := range map[string]struct {
		spec    load.Spec
		lanes   int
		notHere bool
	}{
		"both ways at once": {both, 1, true}, "no lane": {specOf(1), 0, false},
		"more lanes than any plan names": {specOf(1), load.MaxLanes + 1, false}, "a frame without room for its stamp": {small, 1, false},
	} {
		if _, err := (interleaver{bpfEngine: e}).NewSlicer(c.spec, c.lanes); err == nil || errors.Is(err, load.ErrNotHere) != c.notHere {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAim: the next batch of frames fills the rest of the slice's time, in whole batches, and never
// exceeds what the queues hold.
func TestAim(t *testing.T) {
	for name, c := range map[string]struct {
		took   time.Duration
		frames uint32
		want   int
	}{
		"nothing was counted yet":      {0, 64, burst},
		"a frame takes what it should": {100 * time.Microsecond, 100, Batch * 2}, // 1.1 × 100 and a batch, rounded down
		"a slow machine":               {10 * time.Millisecond, 100, Batch},
		"a fast one":                   {10 * time.Microsecond, 100, burst},
	} {
		l := lane{}
		if l.aim(c.took, c.frames, 100*time.Microsecond); l.frames != c.want {
			t.Errorf("%s: %d frames, want %d", name, l.frames, c.want)
		}
	}
}
