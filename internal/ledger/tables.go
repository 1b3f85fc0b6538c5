package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table says how one kind of record is stored: its whole as a JSON document,
// and beside it columns to search by, which follow from the document.
type Table struct {
	Name    string
	Columns []string // after id, entry, digest, doc; all text but for those in Numeric
	Numeric map[string]bool
	cols    func(doc []byte) ([]any, error)
}

// Tables are the chained tables, in the order rows are digested.
var Tables = []Table{
	{Name: "studies", Columns: []string{"kind", "name", "place"}, cols: columns(func(s Study) []any {
		return []any{s.Kind, s.Name, s.Place}
	})},
	{Name: "environments", Columns: []string{"os", "release", "hardware", "cpu", "nic", "driver"}, cols: columns(func(e Environment) []any {
		return []any{e.OS, e.Release, e.Hardware, e.CPU, e.NIC, e.Driver}
	})},
	{Name: "trials", Columns: []string{"study", "environment", "variant", "workload", "valid"}, Numeric: set("valid"), cols: columns(func(t Trial) []any {
		return []any{t.Study, t.Environment, t.Variant, t.Workload, flag(t.Valid)}
	})},
	{Name: "samples", Columns: []string{"trial", "series"}, cols: columns(func(s Samples) []any {
		return []any{s.Trial, s.Series}
	})},
	{Name: "verdicts", Columns: []string{"study", "environment", "metric", "workload", "variant", "verdict", "is_primary", "tunables"}, Numeric: set("is_primary"), cols: columns(func(v Verdict) []any {
		return []any{v.Study, v.Environment, v.Metric, v.Workload, v.Variant, string(v.Verdict), flag(v.Primary), v.tunables()}
	})},
	{Name: "exclusions", Columns: []string{"target"}, cols: columns(func(e Exclusion) []any {
		return []any{e.Target}
	})},
	{Name: "sources", Columns: []string{"study", "path", "sha256"}, cols: columns(func(s Source) []any {
		return []any{s.Study, s.Path, s.SHA256}
	})},
}

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

func flag(b bool) any {
	if b {
		return int64(1)
	}
	return int64(0)
}

// columns decodes a document and picks its columns.
func columns[T any](pick func(T) []any) func([]byte) ([]any, error) {
	return func(doc []byte) ([]any, error) {
		var v T
		if err := json.Unmarshal(doc, &v); err != nil {
			return nil, err
		}
		return clean(pick(v)), nil
	}
}

// clean makes texts storable: no NUL, which PostgreSQL refuses, and what is
// no UTF-8 replaced as JSON does.
func clean(cols []any) []any {
	for i, c := range cols {
		if s, ok := c.(string); ok && (strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s)) {
			cols[i] = strings.ReplaceAll(string([]rune(s)), "\x00", "�")
		}
	}
	return cols
}

// tunables is every name a verdict is evidence about, as one searchable text:
// " name  name ", each folded and between blanks.
func (v *Verdict) tunables() string {
	var b strings.Builder
	for _, c := range v.Changes {
		for _, n := range append([]string{c.Tunable}, c.Related...) {
			b.WriteString(" " + FoldName(n) + " ")
		}
	}
	return b.String()
}

var folder = strings.NewReplacer(" ", "_", "-", "_", ":", "_")

// FoldName writes a tunable's name without case and with its unit numbers as
// N: what is measured on igb1 is evidence on igb0. Blanks, dashes and colons
// become underscores.
func FoldName(name string) string {
	parts := strings.Split(strings.ToLower(folder.Replace(strings.TrimSpace(name))), ".")
	for i, p := range parts {
		if i > 0 && p != "" && (strings.Trim(p, "0123456789") == "" || p == "*" || p == "x" || p == "%d") && parts[0] == "dev" {
			parts[i] = "n"
		}
	}
	return strings.Join(parts, ".")
}

// Row is one row ready to be stored.
type Row struct {
	Table  string
	ID     string
	Digest string
	Doc    []byte
	Cols   []any
}

// Rows turns a batch into rows, in the order of Tables.
func (b *Batch) Rows() ([]Row, error) {
	n := len(b.Studies) + len(b.Environments) + len(b.Trials) + len(b.Samples) + len(b.Verdicts) + len(b.Exclusions) + len(b.Sources)
	r := rowMaker{rows: make([]Row, 0, n)}
	for i := range b.Studies {
		s := &b.Studies[i]
		r.add("studies", s.ID, s, s.Kind, s.Name, s.Place)
	}
	for i := range b.Environments {
		e := &b.Environments[i]
		r.add("environments", e.ID, e, e.OS, e.Release, e.Hardware, e.CPU, e.NIC, e.Driver)
	}
	for i := range b.Trials {
		t := &b.Trials[i]
		r.add("trials", t.ID, t, t.Study, t.Environment, t.Variant, t.Workload, flag(t.Valid))
	}
	for i := range b.Samples {
		s := &b.Samples[i]
		r.add("samples", s.ID, s, s.Trial, s.Series)
	}
	for i := range b.Verdicts {
		v := &b.Verdicts[i]
		r.add("verdicts", v.ID, v, v.Study, v.Environment, v.Metric, v.Workload, v.Variant, string(v.Verdict), flag(v.Primary), v.tunables())
	}
	for i := range b.Exclusions {
		e := &b.Exclusions[i]
		r.add("exclusions", e.ID, e, e.Target)
	}
	for i := range b.Sources {
		s := &b.Sources[i]
		r.add("sources", s.ID, s, s.Study, s.Path, s.SHA256)
	}
	slices.SortStableFunc(r.rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(tableOrder[a.Table], tableOrder[b.Table]), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(r.rows, func(a, b Row) bool { return a.Table == b.Table && a.ID == b.ID }), r.err
}

// tableOrder is each table's place in Tables.
var tableOrder = func() map[string]int {
	m := map[string]int{}
	for i, t := range Tables {
		m[t.Name] = i
	}
	return m
}()

type rowMaker struct {
	rows []Row
	err  error
}

func (r *rowMaker) add(table, id string, v any, cols ...any) {
	doc, err := json.Marshal(v)
	if err != nil {
		r.err = fmt.Errorf("%s %s: %w", table, id, err)
		return
	}
	r.rows = append(r.rows, Row{Table: table, ID: id, Digest: rowDigest(table, id, doc), Doc: doc, Cols: clean(cols)})
}

// TableNamed returns a table.
func TableNamed(name string) (Table, bool) {
	for _, t := range Tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}
