package catalogue

import (
	"strings"
	"testing"

	"linerate/internal/evidence"
)

// TestShippedEvidence: every row is about a tunable of the catalogue, is in Format's form, and names its source.
func TestShippedEvidence(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	text := measured(t)
	rows, err := evidence.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 1000 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		if _, ok := c.Lookup(strings.ToLower(r.OS), r.Tunable); !ok {
			t.Errorf("%s is not in the catalogue", r.Tunable)
		}
	}
	if got := evidence.Format(rows, rows[0].Source); string(got) != string(text) {
		t.Error("the file is not in Format's form; regenerate it: linerate ledger export --catalogue")
	}
}
