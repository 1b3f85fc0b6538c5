package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for the in-memory tables

	"linerate/internal/queue"
	"linerate/internal/store/storetest"
	"linerate/internal/study"
)

// patience of the tests, whose clock moves only when they advance it.
var patience = queue.Patience{Beat: 10 * time.Second, Lost: time.Minute}

// world is a queue in a database with a fake clock, which fails on request.
type world struct {
	*Book
	t     *testing.T
	sql   *sql.DB
	fault fault
	// check tests before every commit whether the transaction leaves the tables consistent.
	check func(Tx) error
}

// fault returns what happens to a transaction.
type fault func() (stmt int, lost bool)

// The errors of faults.
var (
	errDown = errors.New("the database is down")
	errLost = errors.New("the connection broke in the commit")
)

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "q.db")+"?_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	base.SetMaxOpenConns(1)
	t.Cleanup(func() { base.Close() })
	w := &world{t: t, sql: base}
	w.Book = &Book{DB: w, Engine: w, Patience: patience, Dialect: Dialect{Blob: "BLOB", Now: "(SELECT ms FROM clock)"},
		Hopeless: func(err error) bool { return err != nil && !errors.Is(err, errDown) && !errors.Is(err, errLost) }}
	if err := w.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"CREATE TABLE clock (ms INTEGER)", "INSERT INTO clock VALUES (86400000000)",
		"CREATE TABLE jobs (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT, study TEXT, block INTEGER, taken INTEGER)"} {
		w.exec(s)
	}
	return w
}

// exec modifies the tables directly.
func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.sql.Exec(query, args...); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

// ask returns a number read directly from the tables.
func (w *world) ask(query string, args ...any) (n int64) {
	w.t.Helper()
	if err := w.sql.QueryRow(query, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (w *world) pass(d time.Duration) { w.exec("UPDATE clock SET ms = ms + ?", d.Milliseconds()) }

// Query and Close implement DB.
func (w *world) Query(ctx context.Context, query string, args []any, each func(Row) error) error {
	return w.Do(ctx, func(tx Tx) error { return tx.Query(ctx, query, args, each) })
}

func (w *world) Close() error { return w.sql.Close() }

// Do implements DB.
func (w *world) Do(ctx context.Context, f func(Tx) error) error {
	fails, lost := 0, false
	if w.fault != nil {
		fails, lost = w.fault()
	}
	tx, err := w.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = f(&worldTx{tx, fails})
	if err == nil && w.check != nil {
		if bad := w.check(&worldTx{tx, 0}); bad != nil {
			w.t.Errorf("a transaction leaves: %v", bad)
		}
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err = tx.Commit(); err == nil && lost {
		return errLost
	}
	return err
}

type worldTx struct {
	*sql.Tx
	fails int // number of the failing statement, from 1; 0: none
}

func (t *worldTx) down() error {
	if t.fails--; t.fails == 0 {
		return errDown
	}
	return nil
}

func (t *worldTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.down(); err != nil {
		return 0, err
	}
	r, err := t.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t *worldTx) Query(ctx context.Context, query string, args []any, each func(Row) error) error {
	if err := t.down(); err != nil {
		return err
	}
	rows, err := t.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return Each(rows, each)
}

// Put, Withdraw and Dead implement Engine with a table of jobs.
func (w *world) Put(ctx context.Context, tx Tx, label string, t Ticket) (int64, error) {
	if _, err := tx.Exec(ctx, "INSERT INTO jobs (label, study, block, taken) VALUES (?, ?, ?, 0)", label, t.Study, t.Block); err != nil {
		return 0, err
	}
	return one[int64](ctx, tx, "SELECT MAX(id) FROM jobs")
}

func (w *world) Withdraw(ctx context.Context, tx Tx, job int64) error {
	_, err := tx.Exec(ctx, "DELETE FROM jobs WHERE id = ?", job)
	return err
}

func (w *world) Dead(ctx context.Context, tx Tx, lost int64) ([]int64, error) {
	return Column[int64](ctx, tx, "SELECT b.job FROM queue_blocks b LEFT JOIN jobs j ON j.id = b.job WHERE b.state = 'open' AND (j.id IS NULL OR j.taken > 0 AND j.taken < (SELECT ms FROM clock) - ?)", lost)
}

// take takes the oldest job, as an engine does before it hands it to a worker.
func (w *world) take() (t Ticket, ok bool) {
	w.t.Helper()
	err := w.sql.QueryRow("UPDATE jobs SET taken = (SELECT ms FROM clock) WHERE id = (SELECT MIN(id) FROM jobs WHERE taken = 0) RETURNING id, study, block").Scan(&t.Job, &t.Study, &t.Block)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		w.t.Fatal(err)
	}
	return t, err == nil
}

// need takes a ticket that must exist.
func (w *world) need() Ticket {
	w.t.Helper()
	t, ok := w.take()
	if !ok {
		w.t.Fatal("no job waits")
	}
	return t
}

const spec = `name: small
question: Does b cost more than a?
seed: 7
interleave: false
retries: 1
variants: [{name: a}, {name: b, settings: [{sysctl: net.ipv4.ip_early_demux, value: 0}]}]
parts:
  - {name: cost, mode: cost, blocks: 3, seconds: 0.2}
  - {name: over, mode: overload, rate: max, blocks: 2, seconds: 0.2}
metrics: [{metric: forwarding_rate_pps, part: cost, primary: true}]
`

func submission(id string) queue.Submission {
	return queue.Submission{ID: id, Name: "small", Label: "pair", Kind: "netns", Submitter: "ada@x", Spec: []byte(spec), Sets: []byte("{}"), Estimate: time.Hour}
}

func (w *world) submit(id string) {
	w.t.Helper()
	if err := w.Submit(w.t.Context(), submission(id)); err != nil {
		w.t.Fatal(err)
	}
}

func claim(bed string) queue.Claim {
	return queue.Claim{Testbed: bed, Label: "pair", Kind: "netns", Holder: "host:" + bed}
}

func (w *world) lease(bed string) queue.Lease {
	w.t.Helper()
	l, err := w.Lease(w.t.Context(), claim(bed))
	if err != nil {
		w.t.Fatalf("lease %s: %v", bed, err)
	}
	return l
}

// outcome returns what a testbed makes of a job.
func outcome(j queue.Job, bed string) queue.Outcome {
	if j.Finish {
		return queue.Outcome{Ledger: "kept"}
	}
	return queue.Outcome{Trials: storetest.Trials(j, 700), Facts: []byte("{}"), Environment: study.Environment{CPU: "cpu of " + bed, OS: "linux"},
		Files: []queue.File{{Name: fmt.Sprintf("raw-%d", j.Unit.Blocks[0]), Data: []byte("raw of " + bed)}}}
}

func plain(bed string) queue.Work {
	return func(_ context.Context, j queue.Job) (queue.Outcome, error) { return outcome(j, bed), nil }
}

// worker is Hands with its own context; pauses are recorded and take no time.
type worker struct {
	*Hands
	w      *world
	ctx    context.Context
	paused []time.Duration
}

func (w *world) worker(l queue.Lease, do queue.Work) *worker {
	ctx, end := context.WithCancelCause(w.t.Context())
	w.t.Cleanup(func() { end(nil) })
	k := &worker{w: w, ctx: ctx}
	k.Hands = w.Hands(l, do, time.Now, func(ctx context.Context, d time.Duration) error {
		k.paused = append(k.paused, d)
		if len(k.paused) > 1000 {
			w.t.Fatal("a worker retries for ever")
		}
		return ctx.Err()
	}, end)
	return k
}

// handle processes a ticket like an engine, repeating it if it is to be handed out again.
func (k *worker) handle(t Ticket) error {
	err := k.Handle(k.ctx, t, func(ctx context.Context, tx Tx) error { return k.w.Withdraw(ctx, tx, t.Job) })
	var again *Again
	if errors.As(err, &again) {
		k.w.exec("UPDATE jobs SET taken = 0 WHERE id = ?", t.Job)
	} else {
		k.w.exec("DELETE FROM jobs WHERE id = ?", t.Job)
	}
	return err
}

// drain lets a worker do all jobs, and returns their number.
func (k *worker) drain() (n int) {
	for ; k.ctx.Err() == nil; n++ {
		t, ok := k.w.take()
		if !ok {
			return n
		}
		if err := k.handle(t); err != nil {
			k.w.t.Errorf("block %d of %s: %v", t.Block, t.Study, err)
			return n
		}
		if n > 200 {
			k.w.t.Fatal("the jobs never end")
		}
	}
	return n
}
