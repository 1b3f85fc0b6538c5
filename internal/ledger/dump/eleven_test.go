package dump_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/ledger"
	"linerate/internal/ledger/dump"
	"linerate/internal/netbenches"
	"linerate/internal/sharedtest"
)

var update = flag.Bool("update", false, "rewrite the generated part of docs/guide/eleven-years.md")

const (
	page  = "../../../docs/guide/eleven-years.md"
	begin = "<!-- generated: go test ./internal/ledger/dump -run ElevenYears -update -->\n"
	end   = "<!-- end -->"
)

// sampleLines are the evidence of the archive's sample.
func sampleLines(t *testing.T) []ledger.Line {
	t.Helper()
	tree, err := netbenches.Read(t.Context(), sharedtest.Dir(t, "data/netbenches"), netbenches.Options{})
	if err != nil {
		t.Fatal(err)
	}
	envs := map[string]ledger.Environment{}
	var lines []ledger.Line
	err = netbenches.NewImport(tree, time.Unix(0, 0)).Batches(func(b *ledger.Batch) error {
		for _, e := range b.Environments {
			envs[e.ID] = e
		}
		for _, v := range b.Verdicts {
			lines = append(lines, ledger.Flatten(&ledger.Evidence{Verdict: v, Study: b.Studies[0], Environment: envs[v.Environment]}, nil))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ledger.Sort(lines)
	return lines
}

// TestElevenYears keeps the page's evidence what the sample says.
func TestElevenYears(t *testing.T) {
	lines := slices.DeleteFunc(sampleLines(t), func(l ledger.Line) bool { return len(l.Changes) == 0 })
	var b strings.Builder
	if err := dump.Markdown(&b, lines); err != nil {
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
	want := head + begin + "\n" + b.String() + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Errorf("%s is not what the sample says; run: go test ./internal/ledger/dump -run ElevenYears -update", page)
	}
}
