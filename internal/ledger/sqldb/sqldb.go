// Package sqldb keeps a ledger in a relational database. It holds all that
// SQLite and PostgreSQL have in common, which is nearly everything; their
// packages say how to open one and how to hold it alone while writing.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"linerate/internal/wait"

	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/sqltext"
)

// Dialect is what databases differ in.
type Dialect struct {
	Name   string
	Place  string // where the database is, without secrets
	Blob   string // type of raw bytes
	Bigint string
	Dollar bool   // placeholders are $1, not ?
	Lock   string // statement that keeps other writers out until the transaction ends, "" if beginning one does
	// Order makes texts sort by their bytes.
	Order string
	// Params bounds the placeholders of one statement.
	Params int
	// Retry says that an error means: another writer was there, try again.
	Retry func(error) bool
	// Explain turns a driver's error into one of package ledger's, if it is.
	Explain func(error) error
}

// DB is a ledger in a database.
type DB struct {
	db *sql.DB
	d  Dialect
}

var _ ledger.Store = (*DB)(nil)

// New migrates the database to the current schema and returns its ledger,
// which owns db from then on.
func New(ctx context.Context, db *sql.DB, d Dialect) (*DB, error) {
	s := &DB{db: db, d: d}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(s.explain(err), db.Close())
	}
	return s, nil
}

// NewReadOnly returns the ledger of a database that is of the current schema, and
// writes nothing; it owns db from then on.
func NewReadOnly(ctx context.Context, db *sql.DB, d Dialect) (*DB, error) {
	s := &DB{db: db, d: d}
	v, err := s.version(ctx)
	switch {
	case err != nil:
	case v < len(migrations):
		err = hint.With(fmt.Errorf("%w (schema %d, this one wants %d)", ledger.ErrOlder, v, len(migrations)), "linerate ledger show brings it up to date")
	case v > len(migrations):
		err = fmt.Errorf("%w (schema %d, this one knows %d)", ledger.ErrNewer, v, len(migrations))
	}
	if err != nil {
		return nil, errors.Join(s.explain(err), db.Close())
	}
	return s, nil
}

// Close closes the database.
func (s *DB) Close() error { return s.db.Close() }

// Place says where the database is.
func (s *DB) Place() string { return s.d.Place }

func (s *DB) explain(err error) error {
	if err == nil || s.d.Explain == nil {
		return err
	}
	return s.d.Explain(err)
}

// q writes a statement's placeholders as the dialect has them.
func (s *DB) q(query string) string {
	if !s.d.Dollar {
		return query
	}
	return sqltext.Numbered(query)
}

// migrate brings the schema up to date; several processes may try at once.
func (s *DB) migrate(ctx context.Context) error {
	if v, err := s.version(ctx); err == nil && v == len(migrations) {
		return nil // nothing to write: a ledger may be read where it cannot be written
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS schema_version (version "+s.d.Bigint+" NOT NULL)"); err != nil {
			return err
		}
		var v int
		if err := tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_version").Scan(&v); err != nil {
			return err
		}
		if v > len(migrations) {
			return fmt.Errorf("%w (schema %d, this one knows %d)", ledger.ErrNewer, v, len(migrations))
		}
		for ; v < len(migrations); v++ {
			if err := s.step(ctx, tx, v); err != nil {
				return fmt.Errorf("migrate to schema %d: %w", v+1, err)
			}
		}
		return nil
	})
}

func (s *DB) version(ctx context.Context) (v int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_version").Scan(&v)
	return v, err
}

func (s *DB) step(ctx context.Context, tx *sql.Tx, v int) error {
	text := strings.NewReplacer("{blob}", s.d.Blob, "{bigint}", s.d.Bigint).Replace(migrations[v])
	for _, stmt := range strings.Split(text, ";") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, s.q("INSERT INTO schema_version (version) VALUES (?)"), v+1)
	return err
}

// How long a writer waits for others, in all.
const (
	writeTries = 60
	writePause = 50 * time.Millisecond
)

// write runs f in a transaction that no other writer shares, and commits.
// Nothing of it stays when f or the commit fails.
func (s *DB) write(ctx context.Context, f func(*sql.Tx) error) error {
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

func (s *DB) writeOnce(ctx context.Context, f func(*sql.Tx) error) error {
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
