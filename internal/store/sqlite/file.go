package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"linerate/internal/ledger"
	"linerate/internal/store"
)

// file is a database in a file, with few connections.
type file struct {
	sql   *sql.DB
	path  string
	owner Owner
}

// Parameters for opening a file. Write transactions are exclusive from their beginning.
var (
	writing = url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(20000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "cache_size(-65536)", "temp_store(MEMORY)", "wal_autocheckpoint(4000)",
	}}
	reading = url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(20000)", "query_only(ON)", "cache_size(-65536)", "temp_store(MEMORY)"}}
)

// open opens a file; for writing it creates the file with its directory if needed.
func open(path string, owner Owner, how url.Values) (*file, error) {
	path, err := filepath.Abs(path)
	if err == nil && !how.Has("mode") {
		err = prepare(path, owner)
	}
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+how.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	return &file{db, path, owner}, nil
}

// Close closes the database, and gives the files that SQLite created to their owner.
func (f *file) Close() error { return errors.Join(own(f.path, f.owner), f.sql.Close()) }

// Query reads outside a transaction.
func (f *file) Query(ctx context.Context, query string, args []any, each func(store.Row) error) error {
	rows, err := f.sql.QueryContext(ctx, query, args...)
	return explain(eachOf(rows, err, each))
}

func (f *file) Do(ctx context.Context, do func(store.Tx) error) error {
	return explain(store.Retry(ctx, busy, func() error {
		t, err := f.sql.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := do(tx{t}); err != nil {
			_ = t.Rollback() // otherwise it ends with the connection
			return err
		}
		return t.Commit()
	}))
}

type tx struct{ sql *sql.Tx }

func (t tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	r, err := t.sql.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t tx) Query(ctx context.Context, query string, args []any, each func(store.Row) error) error {
	rows, err := t.sql.QueryContext(ctx, query, args...)
	return eachOf(rows, err, each)
}

func eachOf(rows *sql.Rows, err error, each func(store.Row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	return store.Each(rows, each)
}

func busy(err error) bool {
	return code(err) == sqlite3.SQLITE_BUSY || code(err) == sqlite3.SQLITE_LOCKED
}

// code returns the primary result code of an SQLite error, 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func explain(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w (%w)", ledger.ErrFull, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", ledger.ErrCorrupt, err)
	}
	return err
}
