package dump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// readParquet is what another implementation reads: the columns' names and the rows'
// values as text.
func readParquet(t *testing.T, data []byte) (names []string, rows [][]string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Schema().Columns() {
		names = append(names, c[0])
	}
	for _, g := range f.RowGroups() {
		r := g.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := r.ReadRows(buf)
			for _, row := range buf[:n] {
				var texts []string
				for _, v := range row {
					text := v.String()
					if v.IsNull() {
						text = ""
					}
					texts = append(texts, text)
				}
				rows = append(rows, texts)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	return names, rows
}

// TestParquetIsReadByOthers: of every type, with nulls in runs, over several groups.
func TestParquetIsReadByOthers(t *testing.T) {
	yes, no, v := true, false, 2.5
	evidence := []EvidenceRow{
		{Tunable: "net.inet.ip.redirect", Alone: true, Cores: 8, EffectPercent: &v, Agrees: &yes, Changes: "a: 1 → 0"},
		{Tunable: "", N: -3, Agrees: &no},
		{Verdict: "better", CILow: &v, CIHigh: &v},
	}
	trials := make([]TrialRow, groupRows+20)
	for i := range trials {
		trials[i] = TrialRow{Trial: fmt.Sprint("t", i), Study: "s", Block: int64(i), Valid: i%3 == 0, Value: float64(i) / 7}
	}
	compareParquet(t, evidence)
	compareParquet(t, trials)
	compareParquet(t, []TrialRow{})
}

func compareParquet[T any](t *testing.T, rows []T) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, "parquet", rows); err != nil {
		t.Fatal(err)
	}
	names, got := readParquet(t, b.Bytes())
	if want := fieldNames[T](); !slices.Equal(names, want) {
		t.Fatalf("columns %q, want %q", names, want)
	}
	var want [][]string
	for i := range rows {
		want = append(want, fields(&rows[i], len(names)))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%T, (-written +read)\n%.2000s", rows, d)
	}
}

// TestParquetRefusesOtherFields: a row that it cannot write is an error.
func TestParquetRefusesOtherFields(t *testing.T) {
	if err := Write(io.Discard, "parquet", []struct {
		X []string `json:"x"`
	}{{}}); err == nil {
		t.Error("a list was written")
	}
}
