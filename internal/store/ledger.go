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

// OpenLedger makes a ledger of a database: NewLedger or ReadOnlyLedger.
type OpenLedger func(context.Context, Database, Dialect) (*Ledger, error)

// NewLedger makes the tables where the database has none, and returns its ledger,
// which owns db from then on.
func NewLedger(ctx context.Context, db Database, d Dialect) (*Ledger, error) {
	// One that is current need not be written: a ledger may be read where it cannot be.
	if ledgerTables.current(ctx, db) == nil {
		return &Ledger{db: db, d: d}, nil
	}
	s := &Ledger{db: db, d: d}
	if err := s.write(ctx, func(tx Tx) error { return ledgerTables.make(ctx, tx, &s.d) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// ReadOnlyLedger returns the ledger of a database that is of the current schema, and
// writes nothing; it owns db from then on.
func ReadOnlyLedger(ctx context.Context, db Database, d Dialect) (*Ledger, error) {
	if err := ledgerTables.current(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Ledger{db: db, d: d}, nil
}

// Close closes the database.
func (s *Ledger) Close() error { return s.db.Close() }

// Place says where the database is.
func (s *Ledger) Place() string { return s.d.Place }

// write runs f in a transaction that no other writer shares, and commits.
// Nothing of it stays when f or the commit fails.
func (s *Ledger) write(ctx context.Context, f func(Tx) error) error {
	return s.db.Do(ctx, func(tx Tx) error {
		if s.d.Lock != "" {
			if err := tx.Query(ctx, s.d.Lock, nil, func(Row) error { return nil }); err != nil {
				return err
			}
		}
		return f(tx)
	})
}
