package ledger_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/compare"
	"linerate/internal/ledger"
	"linerate/internal/study"
	"linerate/internal/tunable/explain"
)

// TestComparisonsKeepTheirMembers: every document with a comparison reads and writes the same members as
// always, and rows of a ledger, which are identified by hash, in the same order.
func TestComparisonsKeepTheirMembers(t *testing.T) {
	text, err := os.ReadFile("testdata/comparisons.txt")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func() any{
		"study.Verdict": func() any { return &study.Verdict{} }, "study.AAResult": func() any { return &study.AAResult{} },
		"ledger.Verdict": func() any { return &ledger.Verdict{} }, "ledger.Line": func() any { return &ledger.Line{} },
		"compare.ComparisonDocument": func() any { return &compare.ComparisonDocument{} }, "explain.Evidence": func() any { return &explain.Evidence{} },
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(text)) {
		kind, want, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		v := kinds[kind]()
		if err := json.Unmarshal([]byte(want), v); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		got, err := json.Marshal(v)
		if err != nil || string(got) != want && (kind == "ledger.Verdict" || !has(t, got, want)) {
			t.Errorf("%s, %v\n got %s\nwant %s", kind, err, got, want)
		}
		seen[kind]++
	}
	for kind := range kinds {
		if seen[kind] != 2 {
			t.Errorf("%d documents of %s, want one empty and one full", seen[kind], kind)
		}
	}
}

// has reports whether a document has all members of another.
func has(t *testing.T, document []byte, other string) bool {
	var a, b map[string]any
	if err := errors.Join(json.Unmarshal(document, &a), json.Unmarshal([]byte(other), &b)); err != nil {
		t.Fatal(err)
	}
	for name, value := range b {
		if got, ok := a[name]; !ok || !reflect.DeepEqual(got, value) {
			return false
		}
	}
	return true
}
