package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"linerate/internal/ledger"
)

const entryColumns = "seq, kind, ref, time, row_count, digest, prev, hash"

// Append adds the batches in one transaction.
func (s *Ledger) Append(ctx context.Context, batches ...*ledger.Batch) (added int, err error) {
	rows := make([][]ledger.Row, len(batches))
	for i, b := range batches {
		if rows[i], err = b.Rows(); err != nil {
			return 0, err
		}
	}
	err = s.write(ctx, func(tx Tx) error {
		added = 0
		w := writer{tx: tx, params: s.d.Params, pending: map[string]*insert{}, envs: map[ledger.ID]bool{}}
		head, _, err := lastEntry(ctx, tx)
		if err != nil {
			return err
		}
		for i, b := range batches {
			ok, err := w.batch(ctx, b, rows[i], &head)
			if err != nil {
				return err
			}
			if ok {
				added++
			}
		}
		return w.flush(ctx)
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// writer collects rows by table and inserts many with one statement.
type writer struct {
	tx      Tx
	params  int // maximum placeholders per statement
	pending map[string]*insert
	envs    map[ledger.ID]bool // environments added in this transaction
}

type insert struct {
	columns string
	width   int
	args    []any
}

// batch seals and queues a batch unless the ledger has it.
func (w *writer) batch(ctx context.Context, b *ledger.Batch, rows []ledger.Row, head *ledger.Entry) (bool, error) {
	var n int
	err := lookup(ctx, w.tx, "SELECT COUNT(*) FROM entries WHERE kind = ? AND ref = ?", b.Kind, b.Ref).Scan(&n)
	if err != nil || n > 0 {
		return false, err
	}
	if rows, err = w.unknown(ctx, rows); err != nil {
		return false, err
	}
	e := ledger.Seal(b, rows, *head)
	*head = e
	if err := w.entry(ctx, e); err != nil {
		return false, err
	}
	for _, r := range rows {
		t, _ := ledger.TableNamed(r.Table)
		cells := []any{string(r.ID), e.Seq, r.Digest, string(r.Doc)}
		for _, c := range r.Cols {
			cells = append(cells, c)
		}
		if err := w.add(ctx, r.Table, columnsOf(t), cells...); err != nil {
			return false, err
		}
	}
	for _, blob := range b.Blobs {
		if err := w.add(ctx, "blobs", "sha256, size, encoding, data", blob.SHA256, blob.Size, blob.Encoding, blob.Data); err != nil {
			return false, err
		}
	}
	return true, nil
}

// unknown drops environments that the ledger has: they are shared.
func (w *writer) unknown(ctx context.Context, rows []ledger.Row) ([]ledger.Row, error) {
	out := make([]ledger.Row, 0, len(rows))
	for _, r := range rows {
		if r.Table == "environments" {
			var n int
			err := lookup(ctx, w.tx, "SELECT COUNT(*) FROM environments WHERE id = ?", r.ID).Scan(&n)
			if err != nil {
				return nil, err
			}
			if n > 0 || w.envs[r.ID] {
				continue
			}
			w.envs[r.ID] = true
		}
		out = append(out, r)
	}
	return out, nil
}

// entry is inserted immediately, because the next batch must see it.
func (w *writer) entry(ctx context.Context, e ledger.Entry) error {
	_, err := w.tx.Exec(ctx, "INSERT INTO entries ("+entryColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		e.Seq, e.Kind, e.Ref, e.Time.Format(time.RFC3339Nano), e.Rows, e.Digest, e.Prev, e.Hash)
	return err
}

// perStatement is the maximum number of rows per INSERT.
const perStatement = 64

// add queues a row, and inserts the rows of its table when they fill a statement.
func (w *writer) add(ctx context.Context, table, columns string, cells ...any) error {
	in := w.pending[table]
	if in == nil {
		in = &insert{columns: columns, width: len(cells)}
		w.pending[table] = in
	}
	in.args = append(in.args, cells...)
	if len(in.args) < min(perStatement, w.params/in.width)*in.width {
		return nil
	}
	return w.run(ctx, table, in)
}

func (w *writer) run(ctx context.Context, table string, in *insert) error {
	if len(in.args) == 0 {
		return nil
	}
	one := "(" + strings.TrimSuffix(strings.Repeat("?, ", in.width), ", ") + ")"
	n := len(in.args) / in.width
	query := "INSERT INTO " + table + " (" + in.columns + ") VALUES " + strings.TrimSuffix(strings.Repeat(one+", ", n), ", ")
	if table == "blobs" {
		query += " ON CONFLICT DO NOTHING" // files share them
	}
	_, err := w.tx.Exec(ctx, query, in.args...)
	in.args = in.args[:0]
	return err
}

func (w *writer) flush(ctx context.Context) error {
	for table, in := range w.pending {
		if err := w.run(ctx, table, in); err != nil {
			return err
		}
	}
	return nil
}

// Head returns the last entry.
func (s *Ledger) Head(ctx context.Context) (ledger.Entry, bool, error) { return lastEntry(ctx, s.db) }

func lastEntry(ctx context.Context, q Querier) (ledger.Entry, bool, error) {
	e, err := scanEntry(lookup(ctx, q, "SELECT "+entryColumns+" FROM entries ORDER BY seq DESC LIMIT 1"))
	if errors.Is(err, errNoRow) {
		return ledger.Entry{}, false, nil
	}
	return e, err == nil, err
}

func scanEntry(row Row) (e ledger.Entry, err error) {
	var at string
	if err := row.Scan(&e.Seq, &e.Kind, &e.Ref, &at, &e.Rows, &e.Digest, &e.Prev, &e.Hash); err != nil {
		return e, err
	}
	e.Time, err = time.Parse(time.RFC3339Nano, at)
	return e, err
}
