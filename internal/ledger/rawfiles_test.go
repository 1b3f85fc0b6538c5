package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/ledger"
	"linerate/internal/store/sqlite"
)

// TestVerifyReadsSlices: the ledger holds files of slices by hash alone; where
// the study still is, a changed one is found, and another study of the same
// name is not taken for it.
func TestVerifyReadsSlices(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) ledger.Source {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		return ledger.Source{Path: name, SHA256: hex.EncodeToString(sum[:]), Role: "slices"}
	}
	id := ledger.IDOf("study")
	b := ledger.Batch{Kind: "study", Ref: string(id), Studies: []ledger.Study{{ID: id, Kind: ledger.KindStudy, Path: dir}},
		Sources: []ledger.Source{put("study.yaml", "name: x"), put("slices-cost-1-1.csv.gz", "one"), put("slices-cost-2-1.csv.gz", "two")}}
	b.Sources[0].Role = "record"
	for i := range b.Sources {
		b.Sources[i].Study, b.Sources[i].ID = id, id.Part(b.Sources[i].Path)
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "l.db"), sqlite.Owner{UID: -1, GID: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Append(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	expect := func(what string, checked, gone int64, problem string) {
		t.Helper()
		r, err := ledger.Verify(t.Context(), s, "")
		if err != nil {
			t.Fatal(err)
		}
		if r.RawChecked != checked || r.RawGone != gone || r.OK != (problem == "") || !strings.Contains(strings.Join(r.Problems, "\n"), problem) {
			t.Errorf("%s: %+v", what, r)
		}
	}
	expect("as it was", 2, 0, "")
	put("slices-cost-2-1.csv.gz", "twp")
	expect("a flipped byte", 1, 0, "slices-cost-2-1.csv.gz is not what the study recorded")
	put("slices-cost-2-1.csv.gz", "two")
	if err := os.Remove(filepath.Join(dir, "slices-cost-1-1.csv.gz")); err != nil {
		t.Fatal(err)
	}
	expect("one removed", 1, 1, "")
	put("study.yaml", "name: another")
	expect("another study", 0, 2, "")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	expect("nothing there", 0, 2, "")
}
