package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"linerate/internal/evidence"
	"linerate/internal/list"
	"linerate/internal/stats"
)

// Table says how one kind of record is stored: as a JSON document, with text columns
// for searching that are derived from it.
type Table struct {
	Name    string
	Columns []string // after id, entry, digest, doc

	cols func(doc []byte) ([]string, error)
	add  func(b *Batch, doc []byte) error
	rows func(b *Batch) ([]Row, error)
}

// Tables lists the chained tables, in the order in which rows are digested.
// No other list of their columns exists.
var Tables = []Table{
	table("studies", func(b *Batch) *[]Study { return &b.Studies },
		text("kind", func(s *Study) string { return s.Kind }), text("name", func(s *Study) string { return s.Name }), text("place", func(s *Study) string { return s.Place })),
	table("environments", func(b *Batch) *[]Environment { return &b.Environments },
		text("os", func(e *Environment) string { return e.OS }), text("release", func(e *Environment) string { return e.Release }),
		text("hardware", func(e *Environment) string { return e.Hardware }), text("cpu", func(e *Environment) string { return e.CPU }),
		text("nic", func(e *Environment) string { return e.NIC }), text("driver", func(e *Environment) string { return e.Driver })),
	table("trials", func(b *Batch) *[]Trial { return &b.Trials }, text("study", func(t *Trial) ID { return t.Study })),
	table("verdicts", func(b *Batch) *[]Verdict { return &b.Verdicts },
		text("study", func(v *Verdict) ID { return v.Study }), text("environment", func(v *Verdict) ID { return v.Environment }),
		text("metric", func(v *Verdict) string { return v.Metric }), text("workload", func(v *Verdict) string { return v.Workload }),
		text("verdict", func(v *Verdict) stats.Verdict { return v.Verdict }),
		text("is_primary", func(v *Verdict) string { return strconv.FormatBool(v.Primary) }), text("tunables", (*Verdict).tunables)),
	table("exclusions", func(b *Batch) *[]Exclusion { return &b.Exclusions }),
	table("sources", func(b *Batch) *[]Source { return &b.Sources },
		text("study", func(s *Source) ID { return s.Study }), text("path", func(s *Source) string { return s.Path }), text("sha256", func(s *Source) string { return s.SHA256 })),
}

// column is a column of a table, with a function that returns its value.
type column[T any] struct {
	name string
	of   func(*T) string
}

func text[T any, S ~string](name string, of func(*T) S) column[T] {
	return column[T]{name, func(v *T) string { return Storable(string(of(v))) }}
}

// table returns the table for one kind of record, given a function that returns a batch's list of them.
func table[T any, P interface {
	*T
	identified
}](name string, of func(*Batch) *[]T, columns ...column[T]) Table {
	t := Table{Name: name}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.name)
	}
	pick := func(v *T) []string { return list.Map(columns, func(c column[T]) string { return c.of(v) }) }
	t.cols = func(doc []byte) ([]string, error) {
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
		at := of(b)
		*at = append(*at, v)
		return checkIDs(P(&v))
	}
	t.rows = func(b *Batch) ([]Row, error) {
		all := *of(b)
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

// checkIDs refuses a record whose own identifier, or one that it refers to,
// is invalid.
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

// Add adds a record to the batch, from a table's document.
func (b *Batch) Add(table string, doc []byte) error {
	t, ok := TableNamed(table)
	if !ok {
		return fmt.Errorf("unknown table %q", table)
	}
	return t.add(b, doc)
}

// Storable makes a text acceptable to all databases: it replaces NUL, which
// PostgreSQL refuses, and invalid UTF-8, as JSON does.
func Storable(s string) string {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return strings.ReplaceAll(string([]rune(s)), "\x00", "\uFFFD")
	}
	return s
}

// tunables returns all names for which a verdict is evidence, as one
// searchable text: " name  name ", each folded and between blanks.
func (v *Verdict) tunables() string {
	var b strings.Builder
	for _, c := range v.Changes {
		for _, n := range append([]string{c.Tunable}, c.Related...) {
			b.WriteString(" " + evidence.FoldName(n) + " ")
		}
	}
	return b.String()
}

// Rows converts a batch to rows, in the order of Tables, without duplicates.
// It is an error if a record lacks a valid identifier.
func (b *Batch) Rows() ([]Row, error) {
	var all []Row
	for _, t := range Tables {
		rows, err := t.rows(b)
		if err != nil {
			return nil, err
		}
		list.Sort(rows, func(a, b Row) int { return cmp.Compare(a.ID, b.ID) })
		all = append(all, slices.CompactFunc(rows, func(a, b Row) bool { return a.ID == b.ID })...)
	}
	return all, nil
}

// TableNamed finds a table by name.
func TableNamed(name string) (Table, bool) {
	return list.Find(Tables, func(t Table) bool { return t.Name == name })
}
