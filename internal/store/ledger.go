package store

import (
	"context"
	"errors"

	"linerate/internal/ledger"
)

// Ledger is a ledger in a database.
type Ledger struct {
	db Database
	d  Dialect
}

var _ ledger.Store = (*Ledger)(nil)

// OpenLedger opens the ledger of a database: NewLedger or ReadOnlyLedger.
type OpenLedger func(context.Context, Database, Dialect) (*Ledger, error)

// NewLedger creates the tables if the database lacks them, and returns the ledger, which then owns
// db.
func NewLedger(ctx context.Context, db Database, d Dialect) (*Ledger, error) {
	// Do not write to a current one: the database may be read-only.
	if ledgerTables.current(ctx, db) == nil {
		return &Ledger{db: db, d: d}, nil
	}
	s := &Ledger{db: db, d: d}
	if err := s.write(ctx, func(w *work) { w.fail(ledgerTables.make(ctx, w.tx, &s.d)) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// ReadOnlyLedger returns the ledger of a database with the current schema, without writing; it then
// owns db.
func ReadOnlyLedger(ctx context.Context, db Database, d Dialect) (*Ledger, error) {
	if err := ledgerTables.current(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Ledger{db: db, d: d}, nil
}

// Close closes the database.
func (s *Ledger) Close() error { return s.db.Close() }

// Place returns the location of the database.
func (s *Ledger) Place() string { return s.d.Place }

// write runs f in a transaction that excludes other writers, and commits. If f or the commit fails,
// nothing is kept.
func (s *Ledger) write(ctx context.Context, f func(*work)) error {
	return do(ctx, s.db, func(w *work) {
		if s.d.Lock != "" {
			w.fail(w.tx.Query(ctx, s.d.Lock, nil, func(Row) error { return nil }))
		}
		f(w)
	})
}
