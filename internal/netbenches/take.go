package netbenches

import (
	"context"
	"time"

	"linerate/internal/ledger"
)

// What of the raw bytes an import keeps in the ledger, compressed.
const (
	RawUsed = "used" // what numbers come from
	RawAll  = "all"
	RawNone = "none"
)

// TakeOptions say how a tree is imported.
type TakeOptions struct {
	Raw     string // RawUsed, RawAll or RawNone
	Check   bool   // read the tree for its Check even where the ledger has it
	Workers int
	Ticker  func(done, total, bytes int64) // hears how far the reading is; may be nil
}

// Taken is what an import did.
type Taken struct {
	Unchanged bool // the ledger has the tree as it is
	Added     int  // studies that are new to the ledger
	Totals    ImportTotals
	Check     *Check // nil: nothing was read
}

// Take imports a listed tree into a ledger, unless that has the tree as it is.
func Take(ctx context.Context, s ledger.Store, t *Tree, o TakeOptions) (Taken, error) {
	mark, tool := t.Fingerprint(), Tool+" "+o.Raw
	known, err := s.Imported(ctx, mark, tool)
	if err != nil {
		return Taken{}, err
	}
	got := Taken{Unchanged: known, Totals: ImportTotals{Files: len(t.Files)}}
	if known && !o.Check {
		return got, nil
	}
	opt := Options{Workers: o.Workers, HashAll: !known, Pack: !known && o.Raw != RawNone, PackAll: !known && o.Raw == RawAll, Ticker: o.Ticker}
	if err := t.Load(ctx, opt); err != nil {
		return got, err
	}
	im := NewImport(t, time.Now())
	got.Check = im.Check()
	if known {
		got.Totals.Bytes, got.Totals.Unread = t.Bytes, len(t.Unread())
		return got, nil
	}
	if got.Added, err = store(ctx, s, im); err != nil {
		return got, err
	}
	got.Totals = im.Totals
	return got, s.NoteImport(ctx, mark, tool, t.Root, time.Now())
}

// perTransaction is how many rows are committed together: enough that syncing
// costs little, few enough to be held in memory.
const perTransaction = 20_000

// store appends an import's studies, many to a transaction.
func store(ctx context.Context, s ledger.Store, im *Import) (added int, err error) {
	var waiting []*ledger.Batch
	rows := 0
	flush := func() error {
		n, err := s.Append(ctx, waiting...)
		added, waiting, rows = added+n, nil, 0
		return err
	}
	err = im.Batches(func(b *ledger.Batch) error {
		waiting = append(waiting, b)
		rows += len(b.Trials) + len(b.Samples) + len(b.Sources) + len(b.Blobs)
		if rows < perTransaction {
			return nil
		}
		return flush()
	})
	if err == nil && len(waiting) > 0 {
		err = flush()
	}
	return added, err
}
