// Package store stores ledgers and queues in relational databases. It has the schema and
// everything that SQLite and PostgreSQL have in common; their packages open databases, lock
// them for writing, and hand out the queue's blocks.
package store

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"linerate/internal/wait"
)

// Dialect holds the differences between databases.
type Dialect struct {
	Place  string // location of the database, without secrets
	Blob   string // type of raw bytes
	Bigint string // type of integers
	// Lock is the statement that excludes other writers until the transaction ends, "" if beginning
	// one does; RowLock is the suffix of a SELECT that locks its rows.
	Lock, RowLock string
	Order         string // collation that sorts texts by bytes
	Now           string // expression: milliseconds since 1970 by the database's clock
	Params        int    // maximum placeholders per statement
}

// Querier reads. Placeholders are ?.
type Querier interface {
	// Query calls each for every row.
	Query(ctx context.Context, query string, args []any, each func(Row) error) error
}

// Tx is a transaction.
type Tx interface {
	Querier
	// Exec runs a statement and returns the number of changed rows.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
}

// Database runs transactions, and reads outside them. It returns package ledger's errors where they
// apply.
type Database interface {
	Querier
	// Do runs f in a transaction and commits; it retries if another writer interfered. If either
	// fails nothing is kept, except that a commit whose answer was lost may have succeeded.
	Do(ctx context.Context, f func(Tx) error) error
	Close() error
}

// Numbered replaces the placeholders ? in a statement by $1, $2 … for PostgreSQL. Every ? counts:
// statements must not have one in quotes or comments.
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

// Each implements Querier.Query for the rows of a driver; the caller closes them.
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

// tries is the maximum number of attempts of a transaction that loses to another.
const tries = 40

// Retry repeats a transaction while it fails because of another one.
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

// Row scans a row of a result.
type Row func(into ...any) error

// Scan scans the row.
func (r Row) Scan(into ...any) error { return r(into...) }

// collect returns the scanned rows of a query; it never returns nil.
func collect[T any](ctx context.Context, q Querier, query string, args []any, scan func(Row) (T, error)) ([]T, error) {
	all := []T{}
	err := q.Query(ctx, query, args, func(r Row) error {
		v, err := scan(r)
		all = append(all, v)
		return err
	})
	return all, err
}

// Column returns the only column of a query's rows.
func Column[T any](ctx context.Context, q Querier, query string, args ...any) ([]T, error) {
	return collect(ctx, q, query, args, only[T])
}

// only scans the only column of a row.
func only[T any](r Row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// errNoRow means that a query which must find something found nothing.
var errNoRow = errors.New("no row")

// lookup returns the first row of a query, which runs on Scan; Scan returns errNoRow if there is none.
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

// work is a transaction whose first error ends it: what follows does nothing and returns zero, and the
// transaction fails with that error.
type work struct {
	ctx context.Context
	tx  Tx
	err error
}

// do runs f in a transaction.
func do(ctx context.Context, db Database, f func(*work)) error {
	return db.Do(ctx, func(tx Tx) error {
		w := &work{ctx: ctx, tx: tx}
		f(w)
		return w.err
	})
}

// fail ends the transaction, unless err is nil.
func (w *work) fail(err error) { w.err = cmp.Or(w.err, err) }

// exec runs a statement, with storable texts, and returns the number of changed rows.
func (w *work) exec(query string, values ...any) (changed int64) {
	if w.err == nil {
		changed, w.err = w.tx.Exec(w.ctx, query, args(values...)...)
	}
	return changed
}

// row scans the first row of a query; it returns false if there is none.
func (w *work) row(query string, values []any, into ...any) (found bool) {
	if w.err != nil {
		return false
	}
	err := lookup(w.ctx, w.tx, query, args(values...)...).Scan(into...)
	if !errors.Is(err, errNoRow) {
		w.err = err
	}
	return err == nil
}

// value returns the only column of a query's first row; zero if there is none.
func value[T any](w *work, query string, values ...any) (v T) {
	w.row(query, values, &v)
	return v
}

// rows returns the scanned rows of a query.
func rows[T any](w *work, query string, values []any, scan func(Row) (T, error)) (all []T) {
	if w.err == nil {
		all, w.err = collect(w.ctx, w.tx, query, args(values...), scan)
	}
	return all
}

// one returns the single value of a query, or errNoRow.
func one[T any](ctx context.Context, q Querier, query string, args ...any) (v T, err error) {
	err = lookup(ctx, q, query, args...).Scan(&v)
	return v, err
}
