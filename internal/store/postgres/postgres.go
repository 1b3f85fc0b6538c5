// Package postgres stores a ledger and its queue in a PostgreSQL database, for a team.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"linerate/internal/ledger"
	"linerate/internal/store"
	"linerate/internal/wait"
)

// lockKey is linerate's advisory lock: its holder may append.
const lockKey = 0x6c6e7274 // "lnrt"

// Open opens the ledger in a database given by a URL, such as postgres://user@host/database or
// postgres:///database?host=/run/postgresql. It creates the tables in the connection's first
// schema. Commits are on stable storage before they are acknowledged, whatever the server's
// default.
func Open(ctx context.Context, url string) (ledger.Store, error) {
	return open(ctx, url, nil, store.NewLedger)
}

// OpenReadOnly opens the ledger in a database such that PostgreSQL refuses all writes
// (default_transaction_read_only). It returns fs.ErrNotExist if the database has none.
func OpenReadOnly(ctx context.Context, url string) (ledger.Reader, error) {
	s, err := open(ctx, url, onlyReading, store.ReadOnlyLedger)
	if err != nil {
		return nil, noTable(err)
	}
	return ledger.ReadOnly(s), nil
}

// noTable adds fs.ErrNotExist to the error of a database without linerate's tables.
func noTable(err error) error {
	if sqlState(err) == "42P01" {
		return errors.Join(fs.ErrNotExist, err)
	}
	return err
}

// open connects with session parameters, and returns the ledger.
func open(ctx context.Context, url string, session map[string]string, of store.OpenLedger) (ledger.Store, error) {
	p, place, err := connect(ctx, url, session)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	if err := recovered(ctx, func() error { return p.Ping(ctx) }); err != nil {
		return nil, errors.Join(fmt.Errorf("ledger %s: %w", place, err), p.Close())
	}
	s, err := of(ctx, p, dialect(place))
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", place, err)
	}
	return s, nil
}

// pool is a database with few connections.
type pool struct{ *pgxpool.Pool }

// onlyReading holds the session parameters for read-only access.
var onlyReading = map[string]string{"default_transaction_read_only": "on"}

// connect returns a pool with session parameters, and its place.
func connect(ctx context.Context, url string, session map[string]string) (pool, string, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return pool{}, "", errors.New("the database URL cannot be parsed") // the error may quote a password
	}
	at := cfg.ConnConfig
	at.RuntimeParams["application_name"] = "linerate"
	at.RuntimeParams["synchronous_commit"] = "on"
	maps.Copy(at.RuntimeParams, session)
	cfg.MaxConns = 6
	p, err := pgxpool.NewWithConfig(ctx, cfg)
	return pool{p}, fmt.Sprintf("postgres://%s/%s", at.Host, at.Database), err
}

func (p pool) Close() error {
	p.Pool.Close()
	return nil
}

// Query reads outside a transaction.
func (p pool) Query(ctx context.Context, query string, args []any, each func(store.Row) error) error {
	rows, err := p.Pool.Query(ctx, store.Numbered(query), args...)
	return explain(eachOf(rows, err, each))
}

func (p pool) Do(ctx context.Context, f func(store.Tx) error) error {
	return explain(store.Retry(ctx, retry, func() error {
		return pgx.BeginFunc(ctx, p.Pool, func(t pgx.Tx) error { return f(tx{t}) })
	}))
}

// tx is a transaction of pgx.
type tx struct{ pgx.Tx }

func (t tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.Tx.Exec(ctx, store.Numbered(query), args...)
	return tag.RowsAffected(), err
}

func (t tx) Query(ctx context.Context, query string, args []any, each func(store.Row) error) error {
	rows, err := t.Tx.Query(ctx, store.Numbered(query), args...)
	return eachOf(rows, err, each)
}

func eachOf(rows pgx.Rows, err error, each func(store.Row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	return store.Each(rows, each)
}

// recovered tries to connect for two minutes while the server reports that it is starting,
// recovering or stopping.
func recovered(ctx context.Context, connect func() error) error {
	for try := 0; ; try++ {
		err := connect()
		if sqlState(err) != "57P03" || try == 240 || wait.For(ctx, 500*time.Millisecond) != nil {
			return err
		}
	}
}

func dialect(place string) store.Dialect {
	return store.Dialect{
		Place: place, Blob: "BYTEA", Bigint: "BIGINT", Params: 60000,
		Lock: fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lockKey), RowLock: " FOR UPDATE", Order: ` COLLATE "C"`,
		Now: "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT",
	}
}

func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// retry reports whether a transaction lost to another one; nothing of it was kept.
func retry(err error) bool {
	switch sqlState(err) {
	case "40001", "40P01":
		return true
	}
	return false
}

func explain(err error) error {
	switch sqlState(err) {
	case "53100": // disk_full
		return fmt.Errorf("%w (%w)", ledger.ErrFull, err)
	case "XX001", "XX002": // data_corrupted, index_corrupted
		return fmt.Errorf("%w (%w)", ledger.ErrCorrupt, err)
	case "42P01":
		return fmt.Errorf("%w: a table is missing (%w)", ledger.ErrCorrupt, err)
	}
	return err
}
