// Package bedtest holds what tests of and with testbeds share, including the
// suite that every testbed passes.
package bedtest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// chatter is how many unsolicited frames a testbed may carry (IPv6 multicast
// listener reports, which cannot be disabled).
const chatter = 4

func near(n, want uint64) bool { return n >= want && n <= want+chatter }

// Suite is a kind of testbed under test.
type Suite struct {
	// Up creates a new testbed.
	Up func(testing.TB) testbed.Bed
	// Offer sends n packets from one outer port to another and returns how many
	// arrived; with inVain none are expected, and it waits only briefly.
	Offer func(t testing.TB, b testbed.Bed, from, to port.Port, n int, inVain bool) int
	// Closed is a setting with which the DUT forwards nothing.
	Closed setting.Setting
	// Unreached is set if the DUT is inaccessible; nothing on it is counted or set.
	Unreached bool
}

// Conform tests the contract of testbed.Bed and of its optional interfaces
// (Duplex, Telemeter).
func Conform(t *testing.T, s Suite) {
	t.Run("a reset DUT forwards on every way", s.forwards)
	t.Run("what cannot be set is unavailable and leaves the DUT as new", s.unavailable)
	t.Run("an interrupted reset leaves a testbed that can be reset", s.interrupted)
	t.Run("both directions", s.bothWays)
	t.Run("ports face each other", s.faces)
	t.Run("closing twice is not an error", func(t *testing.T) {
		bed := s.Up(t)
		if err := errors.Join(bed.Close(), bed.Close()); err != nil {
			t.Error(err)
		}
	})
	if s.Unreached {
		return
	}
	t.Run("counters start at a reset and count what was offered", s.counts)
	t.Run("a setting is in force for one trial", s.sets)
	t.Run("what the DUT tells of itself grows with the load", s.telemetry)
}

// through offers n packets on each way, forwards or backwards, and expects all to arrive.
func (s Suite) through(t *testing.T, bed testbed.Bed, n int, back bool) {
	t.Helper()
	for _, w := range bed.DUT().Ways() {
		from, to := w.Generator, w.Receiver
		if back {
			from, to = to, from
		}
		if got := s.Offer(t, bed, from, to, n, false); got != n {
			t.Errorf("%s → %s: %d of %d packets arrived", from.Name(), to.Name(), got, n)
		}
	}
}

func reset(t *testing.T, bed testbed.Bed, settings ...setting.Setting) testbed.Applied {
	t.Helper()
	a, err := bed.Reset(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// counters reads the DUT's counters once they no longer change.
func counters(t *testing.T, bed testbed.Bed) testbed.Counters {
	t.Helper()
	err := bed.Settle(t.Context())
	c, failed := bed.DUT().Counters()
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	return c
}

func (s Suite) forwards(t *testing.T) {
	bed := s.Up(t)
	reset(t, bed)
	s.through(t, bed, 20, false)
}

func (s Suite) counts(t *testing.T) {
	bed := s.Up(t)
	s.through(t, bed, 5, false)
	reset(t, bed)
	if c, err := bed.DUT().Counters(); err != nil || c.Received > chatter || c.Forwarded > chatter {
		t.Errorf("counters after a reset: %+v, %v", c, err)
	}
	s.through(t, bed, 30, false)
	want := 30 * uint64(len(bed.DUT().Ways()))
	if c := counters(t, bed); !near(c.Received, want) || !near(c.Forwarded, want) {
		t.Errorf("counters after %d packets: %+v", want, c)
	}
}

// sets checks that a closed DUT receives packets and drops them, and only in this trial.
func (s Suite) sets(t *testing.T) {
	bed := s.Up(t)
	plain := reset(t, bed)
	a := reset(t, bed, s.Closed)
	if a.Digest == plain.Digest {
		t.Error("what the DUT was set to has the digest of nothing")
	}
	if values := slices.Collect(maps.Values(a.ReadBack)); a.ReadBack != nil && !slices.Equal(values, []string{s.Closed.Value}) {
		t.Errorf("read back %v, set %s", a.ReadBack, s.Closed)
	}
	way := bed.DUT().Ways()[0]
	if got := s.Offer(t, bed, way.Generator, way.Receiver, 10, true); got != 0 {
		t.Errorf("%d packets arrived through a DUT that forwards nothing", got)
	}
	if c := counters(t, bed); !near(c.Received, 10) || c.Forwarded > chatter {
		t.Errorf("counters of a DUT that forwards nothing: %+v", c)
	}
	if _, err := bed.DUT().AllDrops(); err != nil {
		t.Error(err)
	}
	reset(t, bed)
	s.through(t, bed, 10, false)
}

func (s Suite) unavailable(t *testing.T) {
	bed := s.Up(t)
	_, err := bed.Reset(t.Context(), []setting.Setting{{Mechanism: setting.Sysctl, Name: "net.ipv4.no_such_sysctl", Value: "1"}})
	var un *testbed.ErrUnavailable
	if !errors.As(err, &un) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	s.through(t, bed, 10, false)
}

// interrupted checks that a context may end a reset at any point.
func (s Suite) interrupted(t *testing.T) {
	bed := s.Up(t)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var settings []setting.Setting
	if !s.Unreached {
		settings = append(settings, s.Closed)
	}
	_, _ = bed.Reset(over, settings) // a fast bed may have completed it
	reset(t, bed)
	s.through(t, bed, 10, false)
}

// bothWays checks that a bed which can carry both directions counts both, and one direction again afterwards.
func (s Suite) bothWays(t *testing.T) {
	bed := s.Up(t)
	duplex, ok := bed.(testbed.Duplex)
	if !ok {
		return
	}
	var un *testbed.ErrUnavailable
	if err := duplex.BothWays(true); errors.As(err, &un) {
		return // and says why
	} else if err != nil {
		t.Fatal(err)
	}
	for directions := uint64(2); directions > 0; directions-- {
		if err := duplex.BothWays(directions == 2); err != nil {
			t.Fatal(err)
		}
		reset(t, bed)
		s.through(t, bed, 20, false)
		s.through(t, bed, 20, true)
		if s.Unreached {
			continue
		}
		want := 20 * directions * uint64(len(bed.DUT().Ways()))
		if c := counters(t, bed); !near(c.Received, want) || !near(c.Forwarded, want) {
			t.Errorf("%d counted directions: %+v, want %d", directions, c, want)
		}
	}
}

func (s Suite) faces(t *testing.T) {
	bed := s.Up(t)
	if bed.Describe().Label == "" {
		t.Error("a testbed must say what its numbers are")
	}
	g, r, err := bed.Bypass()
	var un *testbed.ErrUnavailable
	switch {
	case errors.As(err, &un): // it has none, and says so
	case err != nil:
		t.Fatal(err)
	case g.Peer.String() != r.MAC.String() || r.Peer.String() != g.MAC.String():
		t.Errorf("bypass %s→%s but %s→%s", g.MAC, g.Peer, r.MAC, r.Peer)
	}
}

func (s Suite) telemetry(t *testing.T) {
	bed := s.Up(t)
	teller, ok := bed.(testbed.Telemeter)
	if !ok {
		return
	}
	reset(t, bed)
	before, err := teller.Telemetry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.through(t, bed, 30, false)
	counters(t, bed)
	after, err := teller.Telemetry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	packets := 0
	for name, grown := range after.Since(before) {
		if _, counter := after.Counters[name]; counter && grown >= 30 && grown <= 30+chatter {
			packets++
		}
	}
	if packets == 0 {
		t.Errorf("no counter grew by the 30 packets offered: %v", after.Since(before))
	}
}
