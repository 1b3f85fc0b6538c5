// Package postgres keeps a ledger and its queue in a PostgreSQL database, for a team.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"linerate/internal/ledger"
	"linerate/internal/store"
	"linerate/internal/wait"
)

// lockKey is linerate's advisory lock: its holder may append.
const lockKey = 0x6c6e7274 // "lnrt"

// Open opens the ledger in a database named by a URL, such as
// postgres://user@host/database or postgres:///database?host=/run/postgresql.
// Tables are made in the connection's first schema. Every commit is on stable
// storage before it is acknowledged, whatever the server's default.
func Open(ctx context.Context, url string) (ledger.Store, error) {
	return open(ctx, url, nil, store.NewLedger)
}

// OpenReadOnly opens the ledger in a database so that PostgreSQL refuses every
// statement that writes (default_transaction_read_only). A ledger of an older schema is
// ledger.ErrOlder: only what writes migrates one.
func OpenReadOnly(ctx context.Context, url string) (ledger.Reader, error) {
	s, err := openReadOnly(ctx, url)
	if err != nil {
		return nil, err
	}
	return ledger.ReadOnly(s), nil
}

func openReadOnly(ctx context.Context, url string) (ledger.Store, error) {
	return open(ctx, url, map[string]string{"default_transaction_read_only": "on"}, store.ReadOnlyLedger)
}

// open connects with parameters of the session, and makes the ledger of the connection.
func open(ctx context.Context, url string, session map[string]string, of func(context.Context, *sql.DB, store.Dialect) (*store.Ledger, error)) (ledger.Store, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", hidePassword(err))
	}
	if cfg.RuntimeParams == nil {
		cfg.RuntimeParams = map[string]string{}
	}
	cfg.RuntimeParams["application_name"] = "linerate"
	cfg.RuntimeParams["synchronous_commit"] = "on"
	maps.Copy(cfg.RuntimeParams, session)
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(4)
	place := fmt.Sprintf("postgres://%s/%s", cfg.Host, cfg.Database)
	if err := recovered(ctx, func() error { return db.PingContext(ctx) }); err != nil {
		return nil, errors.Join(fmt.Errorf("ledger %s: %w", place, err), db.Close())
	}
	s, err := of(ctx, db, dialect(place))
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", place, err)
	}
	return s, nil
}

// recovered tries to connect while the server says that it starts, recovers or stops, for
// two minutes.
func recovered(ctx context.Context, connect func() error) error {
	for try := 0; ; try++ {
		err := connect()
		if sqlState(err) != "57P03" || try == 240 || wait.For(ctx, 500*time.Millisecond) != nil {
			return err
		}
	}
}

// hidePassword drops the URL that a parse error quotes.
func hidePassword(err error) error {
	var p *pgconn.ParseConfigError
	if errors.As(err, &p) {
		return errors.New("the database URL cannot be parsed")
	}
	return err
}

func dialect(place string) store.Dialect {
	return store.Dialect{
		Place: place, Blob: "BYTEA", Bigint: "BIGINT", Dollar: true, Params: 60000,
		Lock: fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lockKey), RowLock: " FOR UPDATE", Order: ` COLLATE "C"`,
		Now:   "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT",
		Retry: retry, Explain: explain,
	}
}

func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// retry is for transactions that lost to another; nothing of them was kept.
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
