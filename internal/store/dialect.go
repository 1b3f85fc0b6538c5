// Package store keeps ledgers and queues in relational databases. It has the schema and
// all that SQLite and PostgreSQL have in common; their packages say how to open a
// database, how to hold it alone while writing, and who hands out the queue's blocks.
package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
)

// Dialect is what databases differ in.
type Dialect struct {
	Place  string // where the database is, without secrets
	Blob   string // type of raw bytes
	Bigint string // type of whole numbers
	Dollar bool   // placeholders are $1, not ?
	// Lock is the statement that keeps other writers out until the transaction ends, ""
	// where beginning one does; RowLock ends a SELECT that keeps its rows.
	Lock, RowLock string
	Order         string // makes texts sort by their bytes
	Now           string // milliseconds since 1970 by the database's clock, an expression
	Params        int    // the most placeholders of one statement
	// Retry says that an error means: another writer was there, try again.
	Retry func(error) bool
	// Explain turns a driver's error into one of package ledger's, if it is.
	Explain func(error) error
}

// Tx is a transaction. Placeholders are ?.
type Tx interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query calls each for every row.
	Query(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) error
}

// Database runs transactions.
type Database interface {
	// Do runs f in a transaction and commits. Nothing of it stays when either fails,
	// but that a commit whose answer was lost may have been one.
	Do(ctx context.Context, f func(Tx) error) error
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

// SQLTx is a transaction of database/sql.
type SQLTx struct {
	*sql.Tx
	Dollar bool
}

// Exec runs a statement.
func (t SQLTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	r, err := t.ExecContext(ctx, t.text(query), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Query calls each for every row.
func (t SQLTx) Query(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) error {
	rows, err := t.QueryContext(ctx, t.text(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return Each(rows, each)
}

func (t SQLTx) text(query string) string {
	if t.Dollar {
		return Numbered(query)
	}
	return query
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
