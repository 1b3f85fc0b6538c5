// Package sqlite stores a ledger in one SQLite file, and the queue in another: the
// default, for one machine and several processes on it.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"linerate/internal/ledger"
	"linerate/internal/store"
)

// Owner is the owner of created files; −1 leaves them to the process's user.
type Owner struct{ UID, GID int }

// Open opens the ledger in a file; it creates the file with its directory if needed.
//
// Commits are synced to disk before they are acknowledged (write-ahead log,
// synchronous=FULL): a killed process or a full disk keeps everything that was
// acknowledged, and nothing else.
func Open(ctx context.Context, path string, owner Owner) (ledger.Store, error) {
	return openLedger(ctx, path, owner, writing, store.NewLedger)
}

// OpenReadOnly opens the ledger in an existing file such that SQLite refuses all writes (mode=ro,
// query_only).
func OpenReadOnly(ctx context.Context, path string, owner Owner) (ledger.Reader, error) {
	s, err := openLedger(ctx, path, owner, reading, store.ReadOnlyLedger)
	if err != nil {
		return nil, err
	}
	return ledger.ReadOnly(s), nil
}

func openLedger(ctx context.Context, path string, owner Owner, how url.Values, of store.OpenLedger) (ledger.Store, error) {
	f, err := open(path, owner, how)
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	s, err := of(ctx, f, dialect(f.path))
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", f.path, err)
	}
	return s, own(f.path, owner)
}

// prepare creates the directory and an empty file that only its owner can read, so that under sudo
// the user can still write the database.
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
	return store.Dialect{Place: path, Blob: "BLOB", Bigint: "INTEGER", Params: 30000, Now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"}
}
