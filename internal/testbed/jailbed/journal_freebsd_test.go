package jailbed

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/load/packetload"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// dispatch is global to the kernel, and determines where frames are processed.
const dispatch = "net.isr.dispatch"

func dispatched(t *testing.T, want string) {
	t.Helper()
	if got, err := unix.Sysctl(dispatch); err != nil || got != want {
		t.Errorf("%s is %q, %v; want %q", dispatch, got, err, want)
	}
}

// TestHostSettings: settings of the host need permission, are kept while in use, and are restored by the
// next reset, by another arm's turn, at the end, and by the next start after a kill.
func TestHostSettings(t *testing.T) {
	labtest.Need(t)
	stateDir = t.TempDir()
	ctx, deferred := context.Background(), []setting.Setting{{Mechanism: setting.Sysctl, Name: dispatch, Value: "deferred"}}
	before, err := unix.Sysctl(dispatch)
	if err != nil {
		t.Fatal(err)
	}
	without := raise(t, testbed.Cost)
	var un *testbed.ErrUnavailable
	if _, err := without.Reset(ctx, deferred); !errors.As(err, &un) {
		t.Errorf("without leave: %v", err)
	}
	if err := without.Global(ctx, deferred); !errors.As(err, &un) {
		t.Errorf("without leave: %v", err)
	}
	without.Close()
	b, err := Up(ctx, Options{AllowHostSettings: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reset(ctx, deferred); err != nil {
		t.Fatal(err)
	}
	dispatched(t, "deferred")
	if _, err := b.Reset(ctx, nil); err != nil {
		t.Fatal(err)
	}
	dispatched(t, before)
	for _, s := range [][]setting.Setting{deferred, nil, deferred} {
		if err := b.Global(ctx, s); err != nil {
			t.Fatal(err)
		}
		want := before
		if s != nil {
			want = "deferred"
		}
		dispatched(t, want)
	}
	b.journal.Forget() // as after a kill
	b.journal = nil
	if err := Sweep(); err != nil {
		t.Fatal(err)
	}
	dispatched(t, before)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestQueuedFramesCount: the time of netisr's threads counts as the DUT's, and their queues hold what a
// slicer sends at once.
func TestQueuedFramesCount(t *testing.T) {
	labtest.Need(t)
	stateDir = t.TempDir()
	ctx := context.Background()
	b, err := Up(ctx, Options{AllowHostSettings: true, Helper: helper(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Reset(ctx, []setting.Setting{{Mechanism: setting.Sysctl, Name: dispatch, Value: "deferred"}}); err != nil {
		t.Fatal(err)
	}
	before, err := cputime.Spent(cputime.NetISR)
	if err != nil {
		t.Fatal(err)
	}
	if _, got := send(t, b, b.DUT().Generator, b.DUT().Receiver, v4, 500); got.RxPackets != 500 {
		t.Fatalf("%+v", got)
	}
	after, err := cputime.Spent(cputime.NetISR)
	if err != nil || after == before {
		t.Errorf("netisr used %v for 500 queued frames, %v", after-before, err)
	}
	from := b.DUT().Generator
	spec := load.Spec{SrcMAC: from.MAC, DstMAC: from.Peer, Sizes: []int{64}, CPUs: []int{0}, Flows: load.FlowSpace{Count: 10, Src: v4[0], Dst: v4[1]}}
	s, err := packetload.InterleavingBPF(b.Door, Spent).(load.Interleaver).NewSlicer(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(ctx, []load.Lane{{From: from, To: b.DUT().Receiver}}, load.SlicePlan{Order: []uint8{0, 0}, Slice: time.Millisecond, Guard: 128, Warm: 2048})
	if err != nil || len(got.Lanes) != 1 || got.Lanes[0].Lost != 0 {
		t.Errorf("of slices that were queued: %+v, %v", got.Lanes, err)
	}
}
