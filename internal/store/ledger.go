package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/wait"
)

// Ledger is a ledger in a database.
type Ledger struct {
	db *sql.DB
	d  Dialect
}

var _ ledger.Store = (*Ledger)(nil)

// NewLedger migrates the database to the current schema and returns its ledger,
// which owns db from then on.
func NewLedger(ctx context.Context, db *sql.DB, d Dialect) (*Ledger, error) {
	s := &Ledger{db: db, d: d}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(s.explain(err), db.Close())
	}
	return s, nil
}

// ReadOnlyLedger returns the ledger of a database that is of the current schema, and
// writes nothing; it owns db from then on.
func ReadOnlyLedger(ctx context.Context, db *sql.DB, d Dialect) (*Ledger, error) {
	s := &Ledger{db: db, d: d}
	v, err := s.version(ctx)
	if err == nil {
		err = ledgerTables.check(v)
	}
	if errors.Is(err, ledger.ErrOlder) {
		err = hint.With(err, "linerate ledger show brings it up to date")
	}
	if err != nil {
		return nil, errors.Join(s.explain(err), db.Close())
	}
	return s, nil
}

// Close closes the database.
func (s *Ledger) Close() error { return s.db.Close() }

// Place says where the database is.
func (s *Ledger) Place() string { return s.d.Place }

func (s *Ledger) explain(err error) error {
	if err == nil || s.d.Explain == nil {
		return err
	}
	return s.d.Explain(err)
}

// q writes a statement's placeholders as the dialect has them.
func (s *Ledger) q(query string) string {
	if !s.d.Dollar {
		return query
	}
	return Numbered(query)
}

// migrate brings the schema up to date; several processes may try at once.
func (s *Ledger) migrate(ctx context.Context) error {
	if v, err := s.version(ctx); err == nil && ledgerTables.check(v) == nil {
		return nil // nothing to write: a ledger may be read where it cannot be written
	}
	return s.write(ctx, func(tx *sql.Tx) error { return ledgerTables.migrate(ctx, SQLTx{tx, s.d.Dollar}, &s.d) })
}

func (s *Ledger) version(ctx context.Context) (v int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_version").Scan(&v)
	return v, err
}

// How long a writer waits for others, in all.
const (
	writeTries = 60
	writePause = 50 * time.Millisecond
)

// write runs f in a transaction that no other writer shares, and commits.
// Nothing of it stays when f or the commit fails.
func (s *Ledger) write(ctx context.Context, f func(*sql.Tx) error) error {
	for try := 0; ; try++ {
		err := s.writeOnce(ctx, f)
		if err == nil || s.d.Retry == nil || !s.d.Retry(err) || try == writeTries {
			return err
		}
		if err := wait.For(ctx, time.Duration(try+1)*writePause); err != nil {
			return err
		}
	}
}

func (s *Ledger) writeOnce(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if s.d.Lock != "" {
		if _, err := tx.ExecContext(ctx, s.d.Lock); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := f(tx); err != nil {
		if rerr := tx.Rollback(); rerr != nil && !errors.Is(rerr, sql.ErrTxDone) {
			return errors.Join(err, rerr)
		}
		return err
	}
	return tx.Commit()
}
