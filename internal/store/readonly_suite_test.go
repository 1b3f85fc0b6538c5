package store_test

import (
	"context"
	"errors"
	"testing"

	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/store/storetest"
)

// TestLedgerToRead: a ledger opened to be read shows what is kept, also what is added later, and
// has no method that writes. Looking for one makes none.
func TestLedgerToRead(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			p := d.fresh(t)
			for range 2 { // the first try must not have made one
				if s, err := p.readLedger(); err == nil {
					t.Error("a database without a ledger was opened as one", s.Close())
				} else if errors.Is(err, ledger.ErrNewer) {
					t.Error(err)
				}
			}
			s := p.ledger(t)
			appendOne(t, s, storetest.Sample("before"))
			r, err := p.readLedger()
			must(t, err)
			defer r.Close()
			if _, writes := r.(ledger.Store); writes {
				t.Error("a ledger that was opened to be read can be written")
			}
			if _, writes := r.(ledger.FleetStore); writes {
				t.Error("the fleet of a ledger that was opened to be read can be written")
			}
			appendOne(t, s, storetest.Sample("after"))
			if all, err := r.Studies(t.Context(), ledger.Filter{}); err != nil || len(all) != 2 {
				t.Errorf("%d studies, %v; want 2", len(all), err)
			}
		})
	}
}

// TestQueueToRead: a queue opened to be read shows what is kept, and has no method that writes.
func TestQueueToRead(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			p := d.fresh(t)
			if r, err := p.readQueue(); err == nil {
				t.Error("a queue that is not there was opened", r.Close())
			}
			q := p.queue(t, patient)
			submit(t, q, "s1")
			r, err := p.readQueue()
			must(t, err)
			defer r.Close()
			if _, writes := r.(interface {
				Brake(context.Context, string) error
			}); writes {
				t.Error("a queue that was opened to be read can be written")
			}
			must(t, q.Brake(t.Context(), "rest"))
			doc, err := queue.Look(t.Context(), r, true)
			if err != nil || doc.Paused != "rest" || len(doc.Studies) != 1 || doc.Studies[0].ID != "s1" {
				t.Errorf("%+v, %v", doc, err)
			}
		})
	}
}
