package ledger_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"linerate/internal/compare"
	"linerate/internal/ledger"
	"linerate/internal/study"
	"linerate/internal/tunable/explain"
)

// TestComparisonsKeepTheirBytes: whatever embeds stats.Result writes its
// document as it always did, in that order and with those members; a ledger's
// rows are known by these bytes' hashes.
func TestComparisonsKeepTheirBytes(t *testing.T) {
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
		if err != nil || string(got) != want {
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
