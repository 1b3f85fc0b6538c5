package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"linerate/internal/evidence"
	"linerate/internal/list"
	"linerate/internal/stats"
)

// Table says how one kind of record is stored: a JSON document,
// and columns to search by, which follow from the document.
type Table struct {
	Name    string
	Columns []string        // after id, entry, digest, doc; all text but for those in Numeric
	Numeric map[string]bool // 0 or 1

	cols func(doc []byte) ([]any, error)
	add  func(b *Batch, doc []byte) error
	rows func(b *Batch) ([]Row, error)
}

// Tables are the chained tables, in the order rows are digested. This is the
// one list of their columns.
var Tables = []Table{
	table("studies", func(b *Batch) *[]Study { return &b.Studies },
		text("kind", func(s *Study) string { return s.Kind }), text("name", func(s *Study) string { return s.Name }), text("place", func(s *Study) string { return s.Place })),
	table("environments", func(b *Batch) *[]Environment { return &b.Environments },
		text("os", func(e *Environment) string { return e.OS }), text("release", func(e *Environment) string { return e.Release }),
		text("hardware", func(e *Environment) string { return e.Hardware }), text("cpu", func(e *Environment) string { return e.CPU }),
		text("nic", func(e *Environment) string { return e.NIC }), text("driver", func(e *Environment) string { return e.Driver })),
	table("trials", func(b *Batch) *[]Trial { return &b.Trials },
		text("study", func(t *Trial) ID { return t.Study }), text("environment", func(t *Trial) ID { return t.Environment }),
		text("variant", func(t *Trial) string { return t.Variant }), text("workload", func(t *Trial) string { return t.Workload }),
		flag("valid", func(t *Trial) bool { return t.Valid })),
	table("samples", func(b *Batch) *[]Samples { return &b.Samples },
		text("trial", func(s *Samples) ID { return s.Trial }), text("series", func(s *Samples) string { return s.Series })),
	table("verdicts", func(b *Batch) *[]Verdict { return &b.Verdicts },
		text("study", func(v *Verdict) ID { return v.Study }), text("environment", func(v *Verdict) ID { return v.Environment }),
		text("metric", func(v *Verdict) string { return v.Metric }), text("workload", func(v *Verdict) string { return v.Workload }),
		text("variant", func(v *Verdict) string { return v.Variant }), text("verdict", func(v *Verdict) stats.Verdict { return v.Verdict }),
		flag("is_primary", func(v *Verdict) bool { return v.Primary }), text("tunables", (*Verdict).tunables)),
	table("exclusions", func(b *Batch) *[]Exclusion { return &b.Exclusions }, text("target", func(e *Exclusion) ID { return e.Target })),
	table("sources", func(b *Batch) *[]Source { return &b.Sources },
		text("study", func(s *Source) ID { return s.Study }), text("path", func(s *Source) string { return s.Path }), text("sha256", func(s *Source) string { return s.SHA256 })),
}

// column is one column of a table, and what a record has there.
type column[T any] struct {
	name    string
	numeric bool
	of      func(*T) any
}

func text[T any, S ~string](name string, of func(*T) S) column[T] {
	return column[T]{name, false, func(v *T) any { return Storable(string(of(v))) }}
}

func flag[T any](name string, of func(*T) bool) column[T] {
	return column[T]{name, true, func(v *T) any {
		if of(v) {
			return int64(1)
		}
		return int64(0)
	}}
}

// table is the table of one kind of record, which a batch has a list of.
func table[T any, P interface {
	*T
	identified
}](name string, list func(*Batch) *[]T, columns ...column[T]) Table {
	t := Table{Name: name, Numeric: map[string]bool{}}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.name)
		t.Numeric[c.name] = c.numeric
	}
	pick := func(v *T) []any {
		out := make([]any, len(columns))
		for i, c := range columns {
			out[i] = c.of(v)
		}
		return out
	}
	t.cols = func(doc []byte) ([]any, error) {
		var v T
		if err := json.Unmarshal(doc, &v); err != nil {
			return nil, err
		}
		return pick(&v), nil
	}
	t.add = func(b *Batch, doc []byte) error {
		var v T
		if err := json.Unmarshal(doc, &v); err != nil {
			return err
		}
		at := list(b)
		*at = append(*at, v)
		return checkIDs(P(&v))
	}
	t.rows = func(b *Batch) ([]Row, error) {
		all := *list(b)
		rows := make([]Row, len(all))
		for i := range all {
			id := P(&all[i]).ids()[0]
			if err := checkIDs(P(&all[i])); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			doc, err := json.Marshal(&all[i])
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", name, id, err)
			}
			rows[i] = Row{Table: name, ID: id, Digest: rowDigest(name, id, doc), Doc: doc, Cols: pick(&all[i])}
		}
		return rows, nil
	}
	return t
}

// checkIDs refuses a record that has no proper identifier, or names others by
// what is none.
func checkIDs(r identified) error {
	for i, id := range r.ids() {
		if i > 0 && id == "" {
			continue
		}
		if err := id.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Add adds a record of a table's to the batch, from its document.
func (b *Batch) Add(table string, doc []byte) error {
	t, ok := TableNamed(table)
	if !ok {
		return fmt.Errorf("unknown table %q", table)
	}
	return t.add(b, doc)
}

// Storable makes a text what every database keeps: no NUL, which PostgreSQL
// refuses, and what is no UTF-8 replaced as JSON does.
func Storable(s string) string {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return strings.ReplaceAll(string([]rune(s)), "\x00", "\uFFFD")
	}
	return s
}

// tunables is every name a verdict is evidence about, as one searchable text:
// " name  name ", each folded and between blanks.
func (v *Verdict) tunables() string {
	var b strings.Builder
	for _, c := range v.Changes {
		for _, n := range append([]string{c.Tunable}, c.Related...) {
			b.WriteString(" " + evidence.FoldName(n) + " ")
		}
	}
	return b.String()
}

// Row is one row ready to be stored.
type Row struct {
	Table  string
	ID     ID
	Digest string
	Doc    []byte
	Cols   []any
}

// Rows turns a batch into rows, in the order of Tables, each record once. An
// error is a record without a proper identifier.
func (b *Batch) Rows() ([]Row, error) {
	var all []Row
	for _, t := range Tables {
		rows, err := t.rows(b)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.ID, b.ID) })
		all = append(all, slices.CompactFunc(rows, func(a, b Row) bool { return a.ID == b.ID })...)
	}
	return all, nil
}

// TableNamed returns a table.
func TableNamed(name string) (Table, bool) {
	return list.Find(Tables, func(t Table) bool { return t.Name == name })
}
