package ledgertest

import (
	"errors"
	"testing"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

// ReadOnly checks that a ledger opened to be read shows what a store on the same place
// keeps, also what it adds later, and refuses every write. refusing is the database's own
// connection of such a ledger, which only tests have.
func ReadOnly(t *testing.T, s ledger.Store, open func() (ledger.Reader, error), refusing func() (ledger.Store, error)) {
	t.Helper()
	appendOne(t, s, Sample("before"))
	r, err := open()
	must(t, err)
	defer r.Close()
	if _, writes := r.(ledger.Store); writes {
		t.Error("a ledger that was opened to be read can be written")
	}
	if _, writes := r.FleetReader().(ledger.FleetStore); writes {
		t.Error("the fleet of a ledger that was opened to be read can be written")
	}
	count := func(want int) {
		t.Helper()
		if all, err := r.Studies(t.Context(), ledger.Filter{}); err != nil || len(all) != want {
			t.Errorf("%d studies, %v; want %d", len(all), err, want)
		}
	}
	count(1)
	appendOne(t, s, Sample("after"))
	count(2)

	w, err := refusing()
	must(t, err)
	defer w.Close()
	if n, err := w.Append(t.Context(), Sample("never")); err == nil {
		t.Errorf("the database took %d entries on a connection that only reads", n)
	}
	if err := w.NoteImport(t.Context(), "f", "t", "r", time.Now()); err == nil {
		t.Error("the database took a note on a connection that only reads")
	}
	if _, err := w.Fleet().BeginSweep(t.Context(), fleet.Sweep{ID: "never", Start: day}); err == nil {
		t.Error("the database began a sweep on a connection that only reads")
	}
	count(2)
	verified(t, s)
}

// ReadOnlyEmpty checks that a database without a ledger is ledger.ErrOlder or none, and
// stays without.
func ReadOnlyEmpty(t *testing.T, open func() (ledger.Reader, error)) {
	t.Helper()
	for range 2 { // the first try must not have made one
		if s, err := open(); err == nil {
			t.Error("a database without a ledger was opened as one", s.Close())
		} else if errors.Is(err, ledger.ErrNewer) {
			t.Error(err)
		}
	}
}
