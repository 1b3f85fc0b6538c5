// Package book keeps the queue's tables, which PostgreSQL and SQLite have in common:
// studies, their blocks and trials, testbeds and their leases. Who hands out blocks is
// an Engine, whose jobs begin and end in the book's transactions.
package book

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/queue"
)

// Tx is a transaction. Placeholders are ?.
type Tx interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query calls each for every row.
	Query(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) error
}

// DB is a database.
type DB interface {
	// Do runs f in a transaction and commits. Nothing of it stays when either fails,
	// but that a commit whose answer was lost may have been one.
	Do(ctx context.Context, f func(Tx) error) error
}

// Engine hands out jobs.
type Engine interface {
	// Put makes a job of a study's unit, for any worker with a testbed of the label.
	Put(ctx context.Context, tx Tx, label string, t Ticket) (job int64, err error)
	// Withdraw takes a job back, and ends it where it runs.
	Withdraw(ctx context.Context, tx Tx, job int64) error
	// Dead are the jobs of blocks that nobody has begun and nobody will: handed out
	// longer than lost milliseconds ago, or ended.
	Dead(ctx context.Context, tx Tx, lost int64) ([]int64, error)
}

// Ticket is a job's name for what is to be done.
type Ticket struct {
	Study string `json:"study"`
	Block int    `json:"block"` // the first of the unit; 0 finishes the study
	Job   int64  `json:"-"`     // the engine's number for it
}

// Dialect is what databases differ in.
type Dialect struct {
	Blob  string // type of bytes
	Now   string // milliseconds since 1970 by the database's clock, an expression
	Lock  string // ends a SELECT that keeps its rows: FOR UPDATE, or ""
	Order string // makes texts sort by their bytes
}

// Book is the queue but for handing out.
type Book struct {
	DB       DB
	Engine   Engine
	Dialect  Dialect
	Patience queue.Patience
	// Hopeless tells errors of the database that trying again cannot mend, such as a
	// trial that is recorded already; nil: none is.
	Hopeless func(error) bool
}

// migrations are the steps to the current tables, in order; none is edited once
// released. {blob} is the dialect's type.
var migrations = []string{`
CREATE TABLE queue_settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO queue_settings (name, value) VALUES ('brake', ''), ('cap_ms', '86400000');
CREATE TABLE queue_studies (
	id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, label TEXT NOT NULL, kind TEXT NOT NULL, submitter TEXT NOT NULL,
	submitted BIGINT NOT NULL, estimate BIGINT NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL, waiting BIGINT NOT NULL,
	spec {blob} NOT NULL, sets {blob} NOT NULL, ledger TEXT NOT NULL
);
CREATE TABLE queue_blocks (
	study TEXT NOT NULL, block BIGINT NOT NULL, part TEXT NOT NULL, blocks TEXT NOT NULL, job BIGINT NOT NULL,
	state TEXT NOT NULL, testbed TEXT NOT NULL, epoch BIGINT NOT NULL, tries BIGINT NOT NULL,
	PRIMARY KEY (study, block)
);
CREATE INDEX queue_blocks_job ON queue_blocks (job);
CREATE INDEX queue_blocks_testbed ON queue_blocks (testbed, state);
CREATE TABLE queue_trials (
	study TEXT NOT NULL, part TEXT NOT NULL, block BIGINT NOT NULL, arm TEXT NOT NULL, attempt BIGINT NOT NULL,
	place BIGINT NOT NULL, unavailable BIGINT NOT NULL, testbed TEXT NOT NULL, epoch BIGINT NOT NULL, doc TEXT NOT NULL,
	PRIMARY KEY (study, part, block, arm, attempt)
);
CREATE TABLE queue_files (study TEXT NOT NULL, name TEXT NOT NULL, data {blob} NOT NULL, PRIMARY KEY (study, name));
CREATE TABLE queue_beds (study TEXT NOT NULL, testbed TEXT NOT NULL, environment TEXT NOT NULL, facts {blob} NOT NULL, PRIMARY KEY (study, testbed));
CREATE TABLE queue_testbeds (
	name TEXT NOT NULL PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL,
	holder TEXT NOT NULL, holder_lock TEXT NOT NULL, epoch BIGINT NOT NULL, beat BIGINT NOT NULL
);
`}

// errNewer: the tables are of a later version of linerate.
var errNewer = errors.New("the queue was made by a newer linerate")

// errOlder: the tables are of an earlier version, and may not be brought up to date.
var errOlder = errors.New("the queue was made by an older linerate")

// Migrate makes the tables, and brings them up to date. The caller keeps others out.
func (b *Book) Migrate(ctx context.Context) error {
	return b.DB.Do(ctx, func(tx Tx) error {
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS queue_version (version BIGINT NOT NULL)"); err != nil {
			return err
		}
		v, err := one[int](ctx, tx, "SELECT COALESCE(MAX(version), 0) FROM queue_version")
		if err != nil {
			return err
		}
		if v > len(migrations) {
			return fmt.Errorf("%w (tables of version %d, this one knows %d)", errNewer, v, len(migrations))
		}
		for ; v < len(migrations); v++ {
			for stmt := range strings.SplitSeq(strings.ReplaceAll(migrations[v], "{blob}", b.Dialect.Blob), ";\n") {
				if strings.TrimSpace(stmt) == "" {
					continue
				}
				if _, err := tx.Exec(ctx, stmt); err != nil {
					return fmt.Errorf("make the queue's tables: %w", err)
				}
			}
			if _, err := tx.Exec(ctx, "INSERT INTO queue_version (version) VALUES (?)", v+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// Current checks that the tables are there and are of this version, and writes nothing.
func (b *Book) Current(ctx context.Context) error {
	return b.DB.Do(ctx, func(tx Tx) error {
		v, err := one[int](ctx, tx, "SELECT COALESCE(MAX(version), 0) FROM queue_version")
		switch {
		case err != nil:
			return err
		case v > len(migrations):
			return fmt.Errorf("%w (tables of version %d, this one knows %d)", errNewer, v, len(migrations))
		case v < len(migrations):
			return fmt.Errorf("%w (tables of version %d, this one wants %d)", errOlder, v, len(migrations))
		}
		return nil
	})
}

// Each is Tx.Query over rows of a driver's, which its caller closes.
func Each(rows interface {
	Next() bool
	Scan(...any) error
	Err() error
}, each func(scan func(...any) error) error) error {
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Column is the one column of a query's rows.
func Column[T any](ctx context.Context, tx Tx, query string, args ...any) (all []T, err error) {
	err = tx.Query(ctx, query, args, func(scan func(...any) error) error {
		var v T
		err := scan(&v)
		all = append(all, v)
		return err
	})
	return all, err
}

// errNoRow: a query that must find something found nothing.
var errNoRow = errors.New("no row")

// one is the single value that a query finds, or errNoRow.
func one[T any](ctx context.Context, tx Tx, query string, args ...any) (v T, err error) {
	err = row(ctx, tx, query, args, &v)
	return v, err
}

// row scans the first row that a query finds, or errNoRow.
func row(ctx context.Context, tx Tx, query string, args []any, into ...any) error {
	found := false
	err := tx.Query(ctx, query, args, func(scan func(...any) error) error {
		if found {
			return nil
		}
		found = true
		return scan(into...)
	})
	if err == nil && !found {
		return errNoRow
	}
	return err
}

// now is the database's clock in milliseconds.
func (b *Book) now(ctx context.Context, tx Tx) (int64, error) {
	return one[int64](ctx, tx, "SELECT "+b.Dialect.Now)
}
