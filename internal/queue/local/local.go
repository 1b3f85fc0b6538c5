// Package local keeps the queue in an SQLite file, for the testbeds of one machine: a
// table hands out the blocks, and no other program is needed.
package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"linerate/internal/wait"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"linerate/internal/queue"
	"linerate/internal/queue/book"
)

type db struct {
	*book.Book
	sql   *sql.DB
	place string
	owner Owner
}

var _ queue.Queue = (*db)(nil)

// Owner is who the files shall belong to; −1 leaves them to the process.
type Owner struct{ UID, GID int }

// Open opens the queue in a file, and makes it with its folder where there is none.
func Open(ctx context.Context, path string, owner Owner, p queue.Patience) (queue.Queue, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	q, err := open(abs, owner, p, url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(20000)", "journal_mode(WAL)", "synchronous(FULL)"}})
	if err != nil {
		return nil, err
	}
	err = q.Migrate(ctx)
	if err == nil {
		err = q.Do(ctx, func(t book.Tx) error {
			_, err := t.Exec(ctx, "CREATE TABLE IF NOT EXISTS queue_jobs (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL, study TEXT NOT NULL, block INTEGER NOT NULL, taken INTEGER NOT NULL, after INTEGER NOT NULL)")
			return err
		})
	}
	if err == nil {
		err = q.own()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("queue %s: %w", abs, err), q.sql.Close())
	}
	return q, nil
}

// OpenReadOnly opens the queue in a file, which must exist, so that SQLite refuses every
// statement that writes (mode=ro, query_only).
func OpenReadOnly(ctx context.Context, path string, owner Owner) (queue.Reader, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	q, err := open(abs, owner, queue.DefaultPatience, url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(20000)", "query_only(ON)"}})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(q.Current(ctx), q.own()); err != nil {
		return nil, errors.Join(fmt.Errorf("queue %s: %w", abs, err), q.sql.Close())
	}
	return queue.ReadOnly(q), nil
}

// open is a queue over few connections to a file, with options in its URI.
func open(abs string, owner Owner, p queue.Patience, options url.Values) (*db, error) {
	base, err := sql.Open("sqlite", "file:"+(&url.URL{Path: abs}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	base.SetMaxOpenConns(4)
	q := &db{sql: base, place: abs, owner: owner}
	q.Book = &book.Book{DB: q, Engine: q, Patience: p, Hopeless: hopeless, Dialect: book.Dialect{
		Blob: "BLOB", Now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
	}}
	return q, nil
}

// own gives the files to their owner.
func (q *db) own() error {
	if q.owner.UID < 0 {
		return nil
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Chown(q.place+suffix, q.owner.UID, q.owner.GID); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (q *db) Place() string { return q.place }

func (q *db) Close() error { return errors.Join(q.own(), q.sql.Close()) }

// tries is how often a transaction is begun anew while another one writes.
const tries = 20

func (q *db) Do(ctx context.Context, f func(book.Tx) error) error {
	for try := 1; ; try++ {
		err := q.once(ctx, f)
		if c := code(err); c != sqlite3.SQLITE_BUSY && c != sqlite3.SQLITE_LOCKED || try == tries {
			return err
		}
		_ = wait.For(ctx, time.Duration(try)*10*time.Millisecond)
	}
}

func (q *db) once(ctx context.Context, f func(book.Tx) error) error {
	t, err := q.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx{t}); err != nil {
		_ = t.Rollback() // it is gone with the connection else
		return err
	}
	return t.Commit()
}

// code is the primary result code of an SQLite error, 0 if it is none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func hopeless(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT }

// tx is a transaction of database/sql.
type tx struct{ *sql.Tx }

func (t tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	r, err := t.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t tx) Query(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) error {
	rows, err := t.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return book.Each(rows, each)
}

func (q *db) Put(ctx context.Context, t book.Tx, label string, ticket book.Ticket) (int64, error) {
	r, err := t.(tx).ExecContext(ctx, "INSERT INTO queue_jobs (label, study, block, taken, after) VALUES (?, ?, ?, 0, 0)", label, ticket.Study, ticket.Block)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// Withdraw takes a job back: who has it notices.
func (q *db) Withdraw(ctx context.Context, t book.Tx, job int64) error {
	_, err := t.Exec(ctx, "DELETE FROM queue_jobs WHERE id = ?", job)
	return err
}

// Dead are the jobs that were taken and never begun, or are gone.
func (q *db) Dead(ctx context.Context, t book.Tx, lost int64) ([]int64, error) {
	return book.Column[int64](ctx, t, "SELECT b.job FROM queue_blocks b LEFT JOIN queue_jobs j ON j.id = b.job WHERE b.state = 'open' AND (j.id IS NULL OR j.taken > 0 AND j.taken < "+q.Dialect.Now+" - ?)", lost)
}

// take takes the oldest job of a label, if there is one.
func (q *db) take(ctx context.Context, label string) (t book.Ticket, ok bool, err error) {
	err = q.Do(ctx, func(x book.Tx) error {
		ok = false
		return x.Query(ctx, "UPDATE queue_jobs SET taken = "+q.Dialect.Now+" WHERE id = (SELECT id FROM queue_jobs WHERE label = ? AND taken = 0 AND after <= "+q.Dialect.Now+" ORDER BY id LIMIT 1) RETURNING id, study, block",
			[]any{label}, func(scan func(...any) error) error {
				ok = true
				return scan(&t.Job, &t.Study, &t.Block)
			})
	})
	return t, ok && err == nil, err
}

func (q *db) Work(parent context.Context, l queue.Lease, fit func(context.Context) error, do queue.Work) error {
	ctx, end := context.WithCancelCause(parent)
	defer end(nil)
	hands := q.Hands(l, do, time.Now, wait.For, end)
	return hands.Serve(parent, ctx, fit, func(fine bool) {
		for fine && ctx.Err() == nil {
			t, ok, err := q.take(ctx, l.Label)
			if err != nil || !ok {
				_ = wait.For(ctx, min(time.Second, q.Patience.Beat/10))
				continue
			}
			q.one(ctx, hands, t)
		}
	})
}

// errWithdrawn ends a job that was taken back.
var errWithdrawn = errors.New("the block was withdrawn")

// one does one job, until it is taken back.
func (q *db) one(parent context.Context, hands *book.Hands, t book.Ticket) {
	ctx, cancel := context.WithCancelCause(parent)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			var n int
			if err := q.sql.QueryRowContext(ctx, "SELECT COUNT(*) FROM queue_jobs WHERE id = ?", t.Job).Scan(&n); err == nil && n == 0 {
				cancel(errWithdrawn)
			}
			_ = wait.For(ctx, min(time.Second, q.Patience.Beat/5))
		}
	}()
	err := hands.Handle(ctx, t, func(ctx context.Context, x book.Tx) error { return q.Withdraw(ctx, x, t.Job) })
	cancel(nil)
	<-watched
	after := context.WithoutCancel(parent)
	var again *book.Again
	_ = q.Do(after, func(x book.Tx) error { // else it is revived as one that nobody began
		if errors.As(err, &again) {
			_, err := x.Exec(after, "UPDATE queue_jobs SET taken = 0, after = "+q.Dialect.Now+" + ? WHERE id = ?", again.After.Milliseconds(), t.Job)
			return err
		}
		return q.Withdraw(after, x, t.Job)
	})
}
