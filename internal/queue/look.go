package queue

import (
	"context"
	"fmt"
)

// Reader is what can be read of a queue, and no more: its holder cannot change the
// queue. Its methods are those of Queue.
type Reader interface {
	// Studies are all that were submitted, newest first; those that ended too where
	// all is true.
	Studies(ctx context.Context, all bool) ([]Study, error)
	// Study is one, by the beginning of its ID.
	Study(ctx context.Context, id string) (Study, error)
	// Record is a study's record as far as it is: the files of a study's directory
	// (package record) and of raw material.
	Record(ctx context.Context, id string) ([]File, error)
	// Braked is why nothing begins, or "".
	Braked(ctx context.Context) (string, error)
	// Testbeds are all that were ever leased, by name.
	Testbeds(ctx context.Context) ([]Testbed, error)
	// Place says where the queue is, without secrets.
	Place() string
	Close() error
}

// ReadOnly hides all of a queue but its Reader, also from type assertions.
func ReadOnly(q Reader) Reader { return readOnly{q} }

type readOnly struct{ Reader }

// Document is a queue as it stands, as JSON.
type Document struct {
	Version int    `json:"version"`
	Queue   string `json:"queue"` // where it is
	// Paused is why nothing begins; "" when it does.
	Paused   string    `json:"paused"`
	Studies  []Study   `json:"studies"`
	Testbeds []Testbed `json:"testbeds"`
}

// Look is what a queue has; studies that ended too where all is true.
func Look(ctx context.Context, q Reader, all bool) (doc Document, err error) {
	doc = Document{Version: 1, Queue: q.Place()}
	if doc.Paused, err = q.Braked(ctx); err != nil {
		return doc, err
	}
	studies, err := q.Studies(ctx, all)
	if err != nil {
		return doc, err
	}
	beds, err := q.Testbeds(ctx)
	doc.Studies, doc.Testbeds = append([]Study{}, studies...), append([]Testbed{}, beds...)
	return doc, err
}

// Does says what a testbed is doing, in words.
func (b Testbed) Does() string {
	switch {
	case b.State != BedLeased && b.Why != "":
		return b.State + ": " + b.Why
	case b.State != BedLeased:
		return b.State
	case b.Study != "" && b.Block > 0:
		return fmt.Sprintf("block %d of %s", b.Block, b.Study)
	case b.Study != "":
		return "takes " + b.Study + " into the ledger"
	}
	return "waits"
}
