package catalogue

import (
	"os"
	"strings"
	"testing"

	"linerate/internal/evidence"
)

const (
	page  = "../docs/guide/eleven-years.md"
	begin = "<!-- generated: go test ./catalogue -run ElevenYears -update -->\n"
	end   = "<!-- end -->"
)

// TestElevenYears keeps the page's tables what the shipped evidence says.
func TestElevenYears(t *testing.T) {
	rows, err := Evidence()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks its marks", page)
	}
	want := head + begin + "\n" + evidence.Markdown(rows) + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Errorf("%s is not what the evidence says; run: go test ./catalogue -run ElevenYears -update", page)
	}
}

// TestShippedEvidence: every row is about a tunable of the catalogue, is
// written as Format writes it, and says where it comes from.
func TestShippedEvidence(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("evidence/netbenches.tsv")
	if err != nil {
		t.Fatal(err)
	}
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
		t.Error("the file is not as Format writes it; make it anew: linerate catalogue evidence")
	}
}
