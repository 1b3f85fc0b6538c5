// Package store keeps ledgers and queues in relational databases. It has the schema and
// all that SQLite and PostgreSQL have in common; their packages say how to open a
// database, how to hold it alone while writing, and who hands out the queue's blocks.
package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"linerate/internal/wait"
)

// Dialect is what databases differ in.
type Dialect struct {
	Place  string // where the database is, without secrets
	Blob   string // type of raw bytes
	Bigint string // type of whole numbers
	// Lock is the statement that keeps other writers out until the transaction ends, ""
	// where beginning one does; RowLock ends a SELECT that keeps its rows.
	Lock, RowLock string
	Order         string // makes texts sort by their bytes
	Now           string // milliseconds since 1970 by the database's clock, an expression
	Params        int    // the most placeholders of one statement
}

// Querier reads. Placeholders are ?.
type Querier interface {
	// Query calls each for every row.
	Query(ctx context.Context, query string, args []any, each func(Row) error) error
}

// Tx is a transaction.
type Tx interface {
	Querier
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
}

// Database runs transactions, and reads outside of them. Its errors are package ledger's
// where that has a word for them.
type Database interface {
	Querier
	// Do runs f in a transaction and commits, anew where another writer was in the
	// way. Nothing of it stays when either fails, but that a commit whose answer was lost
	// may have been one.
	Do(ctx context.Context, f func(Tx) error) error
	Close() error
}

// Numbered writes a statement's placeholders ? as $1, $2 …, which PostgreSQL wants.
// Every ? counts: statements keep theirs out of quotes and comments.
func Numbered(query string) string {
	var b strings.Builder
	for i, part := range strings.Split(query, "?") {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// Each is Querier.Query over rows of a driver's, which its caller closes.
func Each(rows interface {
	Next() bool
	Scan(...any) error
	Err() error
}, each func(Row) error) error {
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// tries is how often a transaction is begun anew that lost to another.
const tries = 40

// Retry begins a transaction until it ends otherwise than by another's being in its way.
func Retry(ctx context.Context, busy func(error) bool, once func() error) error {
	for try := 1; ; try++ {
		err := once()
		if err == nil || !busy(err) || try == tries {
			return err
		}
		if err := wait.For(ctx, time.Duration(try)*25*time.Millisecond); err != nil {
			return err
		}
	}
}

// Row scans a row that was found.
type Row func(into ...any) error

// Scan scans it.
func (r Row) Scan(into ...any) error { return r(into...) }

// collect is what a query's rows are scanned to; not nil.
func collect[T any](ctx context.Context, q Querier, query string, args []any, scan func(Row) (T, error)) ([]T, error) {
	all := []T{}
	err := q.Query(ctx, query, args, func(r Row) error {
		v, err := scan(r)
		all = append(all, v)
		return err
	})
	return all, err
}

// Column is the one column of a query's rows.
func Column[T any](ctx context.Context, q Querier, query string, args ...any) ([]T, error) {
	return collect(ctx, q, query, args, func(r Row) (v T, err error) {
		err = r.Scan(&v)
		return v, err
	})
}

// errNoRow: a query that must find something found nothing.
var errNoRow = errors.New("no row")

// lookup is the first row that a query finds, asked for when it is scanned: errNoRow if none.
func lookup(ctx context.Context, q Querier, query string, args ...any) Row {
	return func(into ...any) error {
		found := false
		err := q.Query(ctx, query, args, func(r Row) error {
			if found {
				return nil
			}
			found = true
			return r.Scan(into...)
		})
		if err == nil && !found {
			return errNoRow
		}
		return err
	}
}

// one is the single value that a query finds, or errNoRow.
func one[T any](ctx context.Context, q Querier, query string, args ...any) (v T, err error) {
	err = lookup(ctx, q, query, args...).Scan(&v)
	return v, err
}
