package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"linerate/internal/queue"
	"linerate/internal/store"
	"linerate/internal/wait"
)

// queueLockKey prevents two processes from creating the tables at the same time.
const queueLockKey = 0x6c6e7271 // "lnrq"

// maxAttempts is higher than any job's number of attempts: a block that fails gets a new job.
const maxAttempts = 30_000

// db is a queue whose blocks River (riverqueue.com) hands out: one River queue per testbed label,
// one client per leased testbed. River's own rescue of jobs is off: a job is alive as long as its
// testbed's lease, which has heartbeats.
type db struct {
	*store.Book
	pool   pool
	client *river.Client[pgx.Tx] // for inserting; it does no work
}

var _ queue.Queue = (*db)(nil)

// OpenQueue opens the queue in a database given by a URL, like the ledger's
// (postgres://user@host/database), and creates its tables and River's there.
func OpenQueue(ctx context.Context, url string, p queue.Patience) (queue.Queue, error) {
	q, err := openQueue(ctx, url, p, nil)
	if err != nil {
		return nil, err
	}
	err = recovered(ctx, func() error { return q.migrate(ctx) })
	if err == nil {
		q.client, err = river.NewClient(riverpgxv5.New(q.pool.Pool), &river.Config{Logger: quiet})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("queue %s: %w", q.Place(), err), q.Close())
	}
	return q, nil
}

// OpenQueueReadOnly opens the queue in a database such that PostgreSQL refuses all writes
// (default_transaction_read_only). It returns fs.ErrNotExist if the database has none.
func OpenQueueReadOnly(ctx context.Context, url string) (queue.Reader, error) {
	q, err := openQueue(ctx, url, queue.DefaultPatience, onlyReading)
	if err != nil {
		return nil, err
	}
	if err := q.Current(ctx); err != nil {
		_ = q.Close()
		return nil, fmt.Errorf("queue %s: %w", q.Place(), noTable(err))
	}
	return queue.ReadOnly(q), nil
}

func openQueue(ctx context.Context, url string, p queue.Patience, session map[string]string) (*db, error) {
	at, place, err := connect(ctx, url, session)
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	q := &db{pool: at}
	q.Book = &store.Book{DB: at, Engine: q, Patience: p, Hopeless: hopeless, Dialect: dialect(place)}
	return q, nil
}

// quiet discards River's log: database problems show in the lease, which reports them.
var quiet = slog.New(slog.DiscardHandler)

// migrate creates the tables, one process at a time.
func (q *db) migrate(ctx context.Context) error {
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", queueLockKey); err != nil {
		return err
	}
	defer func() { _, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", queueLockKey) }() // released with the connection anyway
	m, err := rivermigrate.New(riverpgxv5.New(q.pool.Pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return q.Make(ctx)
}

// hopeless reports integrity and data errors: a trial that already exists, a value that no column
// accepts.
func hopeless(err error) bool {
	state := sqlState(err)
	return strings.HasPrefix(state, "23") || strings.HasPrefix(state, "22")
}

// args identify a job's block.
type args struct{ store.Ticket }

// Kind names the jobs in River's table.
func (args) Kind() string { return "linerate_block" }

func (q *db) Put(ctx context.Context, t store.Tx, label string, ticket store.Ticket) (int64, error) {
	r, err := q.client.InsertTx(ctx, t.(tx).Tx, args{ticket}, &river.InsertOpts{Queue: label, MaxAttempts: maxAttempts})
	if err != nil {
		return 0, err
	}
	return r.Job.ID, nil
}

// Withdraw cancels a job in any state.
func (q *db) Withdraw(ctx context.Context, t store.Tx, job int64) error {
	_, err := q.client.JobCancelTx(ctx, t.(tx).Tx, job)
	if errors.Is(err, rivertype.ErrNotFound) {
		return nil
	}
	return err
}

// Dead returns the jobs that River will not hand out again by itself.
func (q *db) Dead(ctx context.Context, t store.Tx, lost int64) ([]int64, error) {
	return store.Column[int64](ctx, t, `SELECT b.job FROM queue_blocks b LEFT JOIN river_job j ON j.id = b.job
		WHERE b.state = 'open' AND (j.id IS NULL OR j.finalized_at IS NOT NULL
			OR j.state = 'running' AND j.attempted_at < now() - make_interval(secs => ?::DOUBLE PRECISION / 1000))`, lost)
}

// worker processes River's jobs with a testbed.
type worker struct {
	river.WorkerDefaults[args]
	hands *store.Hands
}

// Work processes one job.
func (w *worker) Work(ctx context.Context, job *river.Job[args]) error {
	t := job.Args.Ticket
	t.Job = job.ID
	err := w.hands.Handle(ctx, t, func(ctx context.Context, t store.Tx) error {
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, t.(tx).Tx, job)
		if errors.Is(err, rivertype.ErrNotFound) {
			return nil // withdrawn meanwhile; only the block matters
		}
		return err
	})
	var again *store.Again
	if errors.As(err, &again) {
		return river.JobSnooze(again.After)
	}
	return err
}

// soon retries a job shortly after an error: errors of studies and of testbeds are the book's
// business, and do not end River's job.
type soon struct{ after time.Duration }

// NextRetry returns a time shortly from now.
func (s soon) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(s.after) }

// stopping is how long jobs may take to end after their worker has ended.
const stopping = 30 * time.Second

func (q *db) Work(parent context.Context, l queue.Lease, fit func(context.Context) error, do queue.Work) error {
	ctx, end := context.WithCancelCause(parent)
	defer end(nil)
	hands := q.Hands(l, do, time.Now, wait.For, end)
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{hands: hands})
	client, err := river.NewClient(riverpgxv5.New(q.pool.Pool), &river.Config{
		ID: fmt.Sprintf("%s@%d", l.Testbed, l.Epoch), Queues: map[string]river.QueueConfig{l.Label: {MaxWorkers: 1}}, Workers: workers,
		JobTimeout: -1, RetryPolicy: soon{q.Patience.Beat / 5}, Logger: quiet,
	})
	if err != nil {
		return err
	}
	return hands.Serve(parent, ctx, fit, func(fine bool) {
		for fine && ctx.Err() == nil { // the database may not be up yet
			if err = client.Start(context.WithoutCancel(ctx)); err == nil {
				break
			}
			_ = wait.For(ctx, q.Patience.Beat/5)
		}
		<-ctx.Done()
		if fine && err == nil {
			stop, cancel := context.WithTimeout(context.WithoutCancel(parent), stopping)
			defer cancel()
			_ = client.StopAndCancel(stop) // what does not stop is fenced
		}
	})
}
