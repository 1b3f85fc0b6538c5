package store

import (
	"context"
	"errors"
	"slices"
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
	err = s.write(ctx, func(t *work) {
		added = 0
		w := writer{work: t, params: s.d.Params, pending: map[string]*insert{}, envs: map[ledger.ID]bool{}}
		head, _, err := lastEntry(ctx, t.tx)
		w.fail(err)
		for i, b := range batches {
			if w.batch(b, rows[i], &head) {
				added++
			}
		}
		for table, in := range w.pending {
			w.run(table, in)
		}
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// writer collects rows by table and inserts many with one statement.
type writer struct {
	*work
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
func (w *writer) batch(b *ledger.Batch, rows []ledger.Row, head *ledger.Entry) bool {
	if value[int](w.work, "SELECT COUNT(*) FROM entries WHERE kind = ? AND ref = ?", b.Kind, b.Ref) > 0 || w.err != nil {
		return false
	}
	rows = slices.DeleteFunc(slices.Clone(rows), w.known)
	e := ledger.Seal(b, rows, *head)
	*head = e
	w.exec("INSERT INTO entries ("+entryColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)", // now, because the next batch must see it
		e.Seq, e.Kind, e.Ref, e.Time.Format(time.RFC3339Nano), e.Rows, e.Digest, e.Prev, e.Hash)
	for _, r := range rows {
		t, _ := ledger.TableNamed(r.Table)
		cells := []any{string(r.ID), e.Seq, r.Digest, string(r.Doc)}
		for _, c := range r.Cols {
			cells = append(cells, c)
		}
		w.add(r.Table, columnsOf(t), cells...)
	}
	for _, blob := range b.Blobs {
		w.add("blobs", "sha256, size, encoding, data", blob.SHA256, blob.Size, blob.Encoding, blob.Data)
	}
	return true
}

// known reports whether the ledger has an environment: they are shared.
func (w *writer) known(r ledger.Row) bool {
	if r.Table != "environments" {
		return false
	}
	known := w.envs[r.ID] || value[int](w.work, "SELECT COUNT(*) FROM environments WHERE id = ?", string(r.ID)) > 0
	w.envs[r.ID] = true
	return known
}

// perStatement is the maximum number of rows per INSERT.
const perStatement = 64

// add queues a row, and inserts the rows of its table when they fill a statement.
func (w *writer) add(table, columns string, cells ...any) {
	in := w.pending[table]
	if in == nil {
		in = &insert{columns: columns, width: len(cells)}
		w.pending[table] = in
	}
	in.args = append(in.args, cells...)
	if len(in.args) >= min(perStatement, w.params/in.width)*in.width {
		w.run(table, in)
	}
}

func (w *writer) run(table string, in *insert) {
	if len(in.args) == 0 {
		return
	}
	one := "(" + strings.TrimSuffix(strings.Repeat("?, ", in.width), ", ") + ")"
	n := len(in.args) / in.width
	query := "INSERT INTO " + table + " (" + in.columns + ") VALUES " + strings.TrimSuffix(strings.Repeat(one+", ", n), ", ")
	if table == "blobs" {
		query += " ON CONFLICT DO NOTHING" // files share them
	}
	w.exec(query, in.args...)
	in.args = in.args[:0]
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
