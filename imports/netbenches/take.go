package netbenches

import (
	"context"
	"time"

	"linerate/internal/ledger"
)

// Taken is what an import did.
type Taken struct {
	Unchanged bool // the ledger has the tree as it is
	Added     int  // studies that are new to the ledger
	Totals    ImportTotals
	Check     *Check // nil: nothing was read
}

// Take imports a listed tree into a ledger, unless that has the tree as it is; with check
// it reads the tree for its Check even then.
func Take(ctx context.Context, s ledger.Store, t *Tree, check bool) (Taken, error) {
	mark := t.Fingerprint()
	known, err := s.Imported(ctx, mark, Tool)
	if err != nil {
		return Taken{}, err
	}
	got := Taken{Unchanged: known, Totals: ImportTotals{Files: len(t.Files)}}
	if known && !check {
		return got, nil
	}
	if err := t.Load(ctx, Options{Pack: !known}); err != nil {
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
	return got, s.NoteImport(ctx, mark, Tool, t.Root, time.Now())
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
