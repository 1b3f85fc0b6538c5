package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"linerate/internal/queue"
	"linerate/internal/store"
	"linerate/internal/wait"
)

// db is a queue in a file: a table hands out the blocks.
type db struct {
	*store.Book
	file *file
}

var _ queue.Queue = (*db)(nil)

// OpenQueue opens the queue in a file; it creates the file with its directory if needed.
func OpenQueue(ctx context.Context, path string, owner Owner, p queue.Patience) (queue.Queue, error) {
	return openQueue(path, owner, p, writing, func(q *db) error {
		if err := q.Make(ctx); err != nil {
			return err
		}
		return q.file.Do(ctx, func(t store.Tx) error {
			_, err := t.Exec(ctx, "CREATE TABLE IF NOT EXISTS queue_jobs (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL, study TEXT NOT NULL, block INTEGER NOT NULL, taken INTEGER NOT NULL, after INTEGER NOT NULL)")
			return err
		})
	})
}

// OpenQueueReadOnly opens the queue in an existing file such that SQLite refuses all writes
// (mode=ro, query_only).
func OpenQueueReadOnly(ctx context.Context, path string, owner Owner) (queue.Reader, error) {
	q, err := openQueue(path, owner, queue.DefaultPatience, reading, func(q *db) error { return q.Current(ctx) })
	if err != nil {
		return nil, err
	}
	return queue.ReadOnly(q), nil
}

func openQueue(path string, owner Owner, p queue.Patience, how url.Values, ready func(*db) error) (*db, error) {
	f, err := open(path, owner, how)
	if err != nil {
		return nil, fmt.Errorf("queue %s: %w", path, err)
	}
	q := &db{file: f}
	q.Book = &store.Book{DB: f, Engine: q, Patience: p, Hopeless: hopeless, Dialect: dialect(f.path)}
	if err := cmp.Or(ready(q), own(f.path, owner)); err != nil {
		return nil, errors.Join(fmt.Errorf("queue %s: %w", f.path, err), q.Close())
	}
	return q, nil
}

func hopeless(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT }

func (q *db) Put(ctx context.Context, t store.Tx, label string, ticket store.Ticket) (int64, error) {
	id, err := store.Column[int64](ctx, t, "INSERT INTO queue_jobs (label, study, block, taken, after) VALUES (?, ?, ?, 0, 0) RETURNING id", label, ticket.Study, ticket.Block)
	if err != nil {
		return 0, err
	}
	return id[0], nil
}

// Withdraw deletes a job; its worker notices.
func (q *db) Withdraw(ctx context.Context, t store.Tx, job int64) error {
	_, err := t.Exec(ctx, "DELETE FROM queue_jobs WHERE id = ?", job)
	return err
}

// Dead returns jobs that were taken but never began, or no longer exist.
func (q *db) Dead(ctx context.Context, t store.Tx, lost int64) ([]int64, error) {
	return store.Column[int64](ctx, t, "SELECT b.job FROM queue_blocks b LEFT JOIN queue_jobs j ON j.id = b.job WHERE b.state = 'open' AND (j.id IS NULL OR j.taken > 0 AND j.taken < "+q.Dialect.Now+" - ?)", lost)
}

// take takes the oldest job of a label, if there is one.
func (q *db) take(ctx context.Context, label string) (t store.Ticket, ok bool, err error) {
	err = q.file.Do(ctx, func(x store.Tx) error {
		ok = false
		return x.Query(ctx, "UPDATE queue_jobs SET taken = "+q.Dialect.Now+" WHERE id = (SELECT id FROM queue_jobs WHERE label = ? AND taken = 0 AND after <= "+q.Dialect.Now+" ORDER BY id LIMIT 1) RETURNING id, study, block",
			[]any{label}, func(r store.Row) error {
				ok = true
				return r.Scan(&t.Job, &t.Study, &t.Block)
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

// errWithdrawn ends a withdrawn job.
var errWithdrawn = errors.New("the block was withdrawn")

// one processes a job until it is withdrawn.
func (q *db) one(parent context.Context, hands *store.Hands, t store.Ticket) {
	ctx, cancel := context.WithCancelCause(parent)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			var n int
			if err := q.file.sql.QueryRowContext(ctx, "SELECT COUNT(*) FROM queue_jobs WHERE id = ?", t.Job).Scan(&n); err == nil && n == 0 {
				cancel(errWithdrawn)
			}
			_ = wait.For(ctx, min(time.Second, q.Patience.Beat/5))
		}
	}()
	err := hands.Handle(ctx, t, func(ctx context.Context, x store.Tx) error { return q.Withdraw(ctx, x, t.Job) })
	cancel(nil)
	<-watched
	after := context.WithoutCancel(parent)
	var again *store.Again
	_ = q.file.Do(after, func(x store.Tx) error { // otherwise the sweep revives it
		if errors.As(err, &again) {
			_, err := x.Exec(after, "UPDATE queue_jobs SET taken = 0, after = "+q.Dialect.Now+" + ? WHERE id = ?", again.After.Milliseconds(), t.Job)
			return err
		}
		return q.Withdraw(after, x, t.Job)
	})
}
