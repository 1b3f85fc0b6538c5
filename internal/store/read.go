package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/evidence"
	"linerate/internal/ledger"
)

// Entries calls f for each entry in order.
func (s *Ledger) Entries(ctx context.Context, f func(ledger.Entry) error) error {
	return s.db.Query(ctx, "SELECT "+entryColumns+" FROM entries ORDER BY seq", nil, func(r Row) error {
		e, err := scanEntry(r)
		if err != nil {
			return err
		}
		return f(e)
	})
}

// Rows calls f for each row of a table in chain order.
func (s *Ledger) Rows(ctx context.Context, table string, f func(ledger.Row) error) error {
	t, ok := ledger.TableNamed(table)
	if !ok {
		return fmt.Errorf("no table %q", table)
	}
	query := "SELECT " + columnsOf(t) + " FROM " + t.Name + " ORDER BY entry, id" + s.d.Order
	return s.db.Query(ctx, query, nil, func(r Row) error {
		row, err := scanRow(r, &t)
		if err != nil {
			return err
		}
		return f(row)
	})
}

func columnsOf(t ledger.Table) string {
	return strings.Join(append([]string{"id", "entry", "digest", "doc"}, t.Columns...), ", ")
}

func scanRow(r Row, t *ledger.Table) (ledger.Row, error) {
	row := ledger.Row{Table: t.Name, Cols: make([]string, len(t.Columns))}
	dest := []any{&row.ID, &row.Entry, &row.Digest, &row.Doc}
	for i := range row.Cols {
		dest = append(dest, &row.Cols[i])
	}
	return row, r.Scan(dest...)
}

// minPrefix is the minimum length of an ID prefix.
const minPrefix = 4

// Get returns the rows with an ID prefix.
func (s *Ledger) Get(ctx context.Context, prefix string) ([]ledger.Row, error) {
	if len(prefix) < minPrefix || strings.Trim(prefix, "0123456789abcdef") != "" {
		return nil, ledger.ErrNotFound
	}
	var out []ledger.Row
	for _, t := range ledger.Tables {
		query := "SELECT " + columnsOf(t) + " FROM " + t.Name +
			" WHERE id >= ? AND id < ? ORDER BY id" + s.d.Order + " LIMIT 20"
		rows, err := collect(ctx, s.db, query, []any{prefix, prefix + "g"}, func(r Row) (ledger.Row, error) { return scanRow(r, &t) })
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	if len(out) == 0 {
		return nil, ledger.ErrNotFound
	}
	return out, nil
}

// where collects the conditions of a filter.
type where struct {
	conds []string
	args  []any
}

func (w *where) add(cond string, args ...any) {
	w.conds = append(w.conds, cond)
	w.args = append(w.args, args...)
}

// contains adds a case-insensitive substring match.
func (w *where) contains(text string, columns ...string) {
	if text == "" {
		return
	}
	var any []string
	for _, c := range columns {
		any = append(any, "LOWER("+c+") LIKE ? ESCAPE '!'")
		w.args = append(w.args, "%"+likeText(text)+"%")
	}
	w.conds = append(w.conds, "("+strings.Join(any, " OR ")+")")
}

func likeText(s string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(s))
}

func (w *where) sql() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conds, " AND ")
}

// study adds the conditions on the study s.
func (w *where) study(f *ledger.Filter) {
	if f.Study != "" {
		text := likeText(f.Study)
		w.add("(s.id LIKE ? ESCAPE '!' OR LOWER(s.name) = ? OR LOWER(s.place) LIKE ? ESCAPE '!')", text+"%", strings.ToLower(f.Study), "%"+text+"%")
	}
	if f.Kind != "" {
		w.add("s.kind = ?", f.Kind)
	}
	if !f.Superseded {
		w.add("NOT EXISTS (SELECT 1 FROM studies o WHERE o.kind = s.kind AND o.place = s.place AND o.entry > s.entry)")
	}
}

// verdict adds the conditions on the verdict v and its environment e.
func (w *where) verdict(f *ledger.Filter) {
	names := f.Names
	if f.Tunable != "" {
		names = append([]string{f.Tunable}, names...)
	}
	if len(names) > 0 {
		var any []string
		for _, n := range names {
			any = append(any, "v.tunables LIKE ? ESCAPE '!'")
			w.args = append(w.args, "% "+likeText(evidence.FoldName(n))+" %")
		}
		w.conds = append(w.conds, "("+strings.Join(any, " OR ")+")")
	}
	w.contains(f.Hardware, "e.hardware", "e.cpu")
	w.contains(f.NIC, "e.nic")
	w.contains(f.Driver, "e.driver")
	w.contains(f.OS, "e.os")
	w.contains(f.Workload, "v.workload")
	if f.Release != "" {
		w.add("LOWER(e.release) LIKE ? ESCAPE '!'", likeText(f.Release)+"%")
	}
	if f.Metric != "" {
		w.add("v.metric = ?", f.Metric)
	}
	if f.Verdict != "" {
		w.add("v.verdict = ?", string(f.Verdict))
	}
	if f.Primary {
		w.add("v.is_primary = 'true'")
	}
}

// Evidence returns verdicts with their study and environment.
func (s *Ledger) Evidence(ctx context.Context, f ledger.Filter) ([]ledger.Evidence, error) {
	var w where
	w.verdict(&f)
	w.study(&f)
	query := `SELECT v.entry, v.doc, s.doc, e.doc FROM verdicts v
		JOIN studies s ON s.id = v.study JOIN environments e ON e.id = v.environment` + w.sql() + " ORDER BY v.entry, v.id" + s.d.Order
	if f.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", f.Limit)
	}
	return collect(ctx, s.db, query, w.args, func(r Row) (ev ledger.Evidence, err error) {
		var v, st, e []byte
		if err = r.Scan(&ev.Entry, &v, &st, &e); err == nil {
			err = errors.Join(json.Unmarshal(v, &ev.Verdict), json.Unmarshal(st, &ev.Study), json.Unmarshal(e, &ev.Environment))
		}
		return ev, err
	})
}

// docs decodes one document per row.
func docs[T any](ctx context.Context, q Querier, query string, args ...any) ([]T, error) {
	return collect(ctx, q, query, args, func(r Row) (v T, err error) {
		var doc []byte
		if err = r.Scan(&doc); err == nil {
			err = json.Unmarshal(doc, &v)
		}
		return v, err
	})
}

// Trials returns the trials of a study.
func (s *Ledger) Trials(ctx context.Context, study ledger.ID) ([]ledger.Trial, error) {
	return docs[ledger.Trial](ctx, s.db, "SELECT doc FROM trials WHERE study = ? ORDER BY entry, id"+s.d.Order, string(study))
}

// Sources returns the sources of a study.
func (s *Ledger) Sources(ctx context.Context, study ledger.ID) ([]ledger.Source, error) {
	return docs[ledger.Source](ctx, s.db, "SELECT doc FROM sources WHERE study = ? ORDER BY path, id"+s.d.Order, string(study))
}

// Studies returns the studies that match a filter.
func (s *Ledger) Studies(ctx context.Context, f ledger.Filter) ([]ledger.Study, error) {
	var w where
	w.study(&f)
	return docs[ledger.Study](ctx, s.db, "SELECT s.doc FROM studies s"+w.sql()+" ORDER BY s.entry, s.id"+s.d.Order, w.args...)
}

// Exclusions returns the exclusions in order.
func (s *Ledger) Exclusions(ctx context.Context) ([]ledger.Exclusion, error) {
	return docs[ledger.Exclusion](ctx, s.db, "SELECT doc FROM exclusions ORDER BY entry, id"+s.d.Order)
}

// Tunables counts verdicts by tunable.
func (s *Ledger) Tunables(ctx context.Context) (map[string]int, error) {
	count := map[string]int{}
	err := s.db.Query(ctx, "SELECT tunables FROM verdicts WHERE tunables <> ''", nil, func(r Row) error {
		var t string
		if err := r.Scan(&t); err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, n := range strings.Fields(t) {
			if !seen[n] {
				seen[n] = true
				count[n]++
			}
		}
		return nil
	})
	return count, err
}

// Blob returns raw bytes.
func (s *Ledger) Blob(ctx context.Context, sha256 string) (ledger.Blob, error) {
	b := ledger.Blob{SHA256: sha256}
	err := lookup(ctx, s.db, "SELECT size, encoding, data FROM blobs WHERE sha256 = ?", sha256).Scan(&b.Size, &b.Encoding, &b.Data)
	if errors.Is(err, errNoRow) {
		return b, ledger.ErrNotFound
	}
	return b, err
}

// Blobs calls f for every blob.
func (s *Ledger) Blobs(ctx context.Context, f func(ledger.Blob) error) error {
	return s.db.Query(ctx, "SELECT sha256, size, encoding, data FROM blobs", nil, func(r Row) error {
		var b ledger.Blob
		if err := r.Scan(&b.SHA256, &b.Size, &b.Encoding, &b.Data); err != nil {
			return err
		}
		return f(b)
	})
}
