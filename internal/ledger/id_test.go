package ledger

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestID(t *testing.T) {
	a, b := IDOf("ab", "c"), IDOf("a", "bc")
	if a == b || a != IDOf("ab", "c") || a.Check() != nil || len(a.Short()) != shortDigits || !strings.HasPrefix(string(a), a.Short()) {
		t.Errorf("%s, %s, short %s, %v", a, b, a.Short(), a.Check())
	}
	if a.Part("x") != IDOf(string(a), "x") || a.Part("x") == a {
		t.Errorf("part %s of %s", a.Part("x"), a)
	}
	for _, bad := range []ID{"", "ab", a[:31], a + "0", ID(strings.ToUpper(string(IDOf("x")))), ID(strings.Repeat("g", 32)), a[:31] + "\n"} {
		if bad.Check() == nil {
			t.Errorf("%q is accepted as an identifier", bad)
		}
		_ = bad.Short() // an invalid one from an old ledger must be printable
	}
}

// FuzzID: accepted identifiers are of IDOf's form, and any text has a short form.
func FuzzID(f *testing.F) {
	f.Add("ab")
	f.Add(string(IDOf("x")))
	f.Fuzz(func(t *testing.T, text string) {
		id := ID(text)
		if s := id.Short(); len(s) > shortDigits || !strings.HasPrefix(text, s) {
			t.Errorf("short of %q is %q", text, s)
		}
		if id.Check() == nil && (len(text) != idDigits || !utf8.ValidString(text) || strings.ContainsAny(text, "% '\"\n")) {
			t.Errorf("%q is accepted as an identifier", text)
		}
	})
}

// TestRowsRefuse: a record without a valid identifier, or with an invalid reference, is not stored; neither
// is such a document.
func TestRowsRefuse(t *testing.T) {
	good := IDOf("x")
	for name, b := range map[string]Batch{
		"a short study":           {Studies: []Study{{ID: "ab"}}},
		"no identifier":           {Environments: []Environment{{}}},
		"a trial of a short one":  {Trials: []Trial{{ID: good, Study: "ab"}}},
		"a verdict on short ones": {Verdicts: []Verdict{{ID: good, ControlTrials: []ID{good, "a3"}}}},
		"an exclusion of nothing": {Exclusions: []Exclusion{{ID: good, Target: "all"}}},
		"a source of a name":      {Sources: []Source{{ID: good, Study: "../x"}}},
	} {
		if rows, err := b.Rows(); err == nil || !strings.Contains(err.Error(), "32 lower-case hexadecimal digits") {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
	for _, table := range Tables {
		var b Batch
		if err := b.Add(table.Name, []byte(`{"id":"ab"}`)); err == nil {
			t.Errorf("%s: a short identifier is read", table.Name)
		}
		if err := b.Add(table.Name, []byte(`{"id":"`+string(good)+`","study":"","control_trials":[]}`)); err != nil {
			t.Errorf("%s: %v", table.Name, err)
		}
	}
}

// TestRowsAreInOrder: rows are sorted by table and identifier, with each record once and its table's columns.
func TestRowsAreInOrder(t *testing.T) {
	b := Batch{Sources: []Source{{ID: IDOf("s")}}, Studies: []Study{{ID: IDOf("b"), Name: "b\x00"}, {ID: IDOf("a"), Kind: "k"}, {ID: IDOf("b"), Name: "again"}}}
	rows, err := b.Rows()
	if err != nil || len(rows) != 3 || rows[2].Table != "sources" || rows[0].ID > rows[1].ID {
		t.Fatalf("%+v, %v", rows, err)
	}
	for _, r := range rows {
		table, ok := TableNamed(r.Table)
		want, err := table.cols(r.Doc)
		if !ok || err != nil || len(r.Cols) != len(table.Columns) || !slices.Equal(want, r.Cols) || !json.Valid(r.Doc) {
			t.Errorf("%+v: columns %v, %v", r, want, err)
		}
		for _, c := range r.Cols {
			if strings.Contains(c, "\x00") {
				t.Errorf("%+v cannot be stored", r)
			}
		}
	}
}
