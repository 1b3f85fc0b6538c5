// Package bedtest holds what tests of and with testbeds share: the suite
// that every testbed passes.
package bedtest

import (
	"context"
	"errors"
	"testing"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// chatter is how many frames a testbed may say of its own accord (multicast
// listener reports of IPv6, which cannot be turned off).
const chatter = 4

func near(n, want uint64) bool { return n >= want && n <= want+chatter }

// Conform is the contract of testbed.Bed as a test. up makes a fresh testbed;
// offer sends n packets through a port's network to the other and returns how
// many arrived there.
func Conform(t *testing.T, up func(testing.TB) testbed.Bed, offer func(testing.TB, testbed.Bed, int) int) {
	ctx := context.Background()
	t.Run("a reset DUT forwards", func(t *testing.T) {
		bed := up(t)
		if _, err := bed.Reset(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if got := offer(t, bed, 20); got != 20 {
			t.Errorf("%d of 20 packets arrived", got)
		}
	})
	t.Run("counters start at a reset and count what was offered", func(t *testing.T) {
		bed := up(t)
		offer(t, bed, 5)
		if _, err := bed.Reset(ctx, nil); err != nil {
			t.Fatal(err)
		}
		before, err := bed.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if before.Received > chatter || before.Forwarded > chatter {
			t.Errorf("counters after a reset: %+v", before)
		}
		offer(t, bed, 30)
		if err := bed.Settle(ctx); err != nil {
			t.Fatal(err)
		}
		after, err := bed.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if !near(after.Received, 30) || !near(after.Forwarded, 30) {
			t.Errorf("counters after 30 packets: %+v", after)
		}
	})
	t.Run("what cannot be set is unavailable and leaves the DUT as new", func(t *testing.T) {
		bed := up(t)
		_, err := bed.Reset(ctx, []setting.Setting{{Mechanism: setting.Sysctl, Name: "net.ipv4.no_such_sysctl", Value: "1"}})
		var un *testbed.ErrUnavailable
		if !errors.As(err, &un) {
			t.Fatalf("got %v, want ErrUnavailable", err)
		}
		if got := offer(t, bed, 10); got != 10 {
			t.Errorf("%d of 10 packets arrived after an unavailable setting", got)
		}
	})
	t.Run("ports face each other", func(t *testing.T) {
		bed := up(t)
		g, r, err := bed.Bypass()
		if err != nil {
			t.Fatal(err)
		}
		if g.Peer.String() != r.MAC.String() || r.Peer.String() != g.MAC.String() {
			t.Errorf("bypass %s→%s but %s→%s", g.MAC, g.Peer, r.MAC, r.Peer)
		}
		if bed.Describe().Label == "" {
			t.Error("a testbed must say what its numbers are")
		}
	})
	t.Run("closing twice is no error", func(t *testing.T) {
		bed := up(t)
		if err := errors.Join(bed.Close(), bed.Close()); err != nil {
			t.Error(err)
		}
	})
}
