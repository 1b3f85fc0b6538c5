// Package sqlite keeps a ledger in one SQLite file, and the queue in another: the
// default, for one machine and several processes on it.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"linerate/internal/ledger"
	"linerate/internal/store"
)

// Owner is who the files shall belong to; −1 leaves them to the process.
type Owner struct{ UID, GID int }

// Open opens the ledger in a file, and makes it with its folder where it does
// not exist.
//
// Every commit is synced to the disk before it is acknowledged (write-ahead
// log, synchronous=FULL): a killed process or a full disk leaves all that was
// acknowledged and nothing of what was not.
func Open(ctx context.Context, path string, owner Owner) (ledger.Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := prepare(abs, owner); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	db, err := database(abs, url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(20000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
		"cache_size(-65536)", "temp_store(MEMORY)", "wal_autocheckpoint(4000)",
	}})
	if err != nil {
		return nil, err
	}
	s, err := store.NewLedger(ctx, db, dialect(abs))
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", abs, err)
	}
	return owned{s, abs, owner}, own(abs, owner)
}

// OpenReadOnly opens the ledger in a file, which must exist, so that SQLite refuses
// every statement that writes (mode=ro, query_only). A ledger of an older schema is
// ledger.ErrOlder: only what writes migrates one.
func OpenReadOnly(ctx context.Context, path string, owner Owner) (ledger.Reader, error) {
	s, err := openReadOnly(ctx, path, owner)
	if err != nil {
		return nil, err
	}
	return ledger.ReadOnly(s), nil
}

func openReadOnly(ctx context.Context, path string, owner Owner) (ledger.Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db, err := database(abs, url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(20000)", "query_only(ON)", "cache_size(-65536)", "temp_store(MEMORY)"}})
	if err != nil {
		return nil, err
	}
	s, err := store.ReadOnlyLedger(ctx, db, dialect(abs))
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", abs, err)
	}
	return owned{s, abs, owner}, own(abs, owner)
}

// database is a pool of few connections to a file, with options in its URI.
func database(abs string, options url.Values) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: abs}).EscapedPath()+"?"+options.Encode())
	if err == nil {
		db.SetMaxOpenConns(4)
	}
	return db, err
}

// owned gives the files that SQLite made to their owner when it closes them.
type owned struct {
	*store.Ledger
	path  string
	owner Owner
}

func (o owned) Close() error { return errors.Join(own(o.path, o.owner), o.Ledger.Close()) }

// prepare makes the folder and an empty file that only its owner reads, so that sudo
// leaves no database that its user cannot write.
func prepare(path string, owner Owner) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	var made []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		made = append(made, dir)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if owner.UID < 0 {
		return nil
	}
	for _, p := range append(made, path) {
		if err := os.Chown(p, owner.UID, owner.GID); err != nil {
			return err
		}
	}
	return nil
}

// own gives SQLite's other files to the owner.
func own(path string, owner Owner) error {
	if owner.UID < 0 {
		return nil
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Chown(path+suffix, owner.UID, owner.GID); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func dialect(path string) store.Dialect {
	return store.Dialect{
		Place: path, Blob: "BLOB", Bigint: "INTEGER", Params: 30000, Now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
		Retry:   func(err error) bool { return code(err) == sqlite3.SQLITE_BUSY || code(err) == sqlite3.SQLITE_LOCKED },
		Explain: explain,
	}
}

// code is the primary result code of an SQLite error, 0 if it is none.
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
