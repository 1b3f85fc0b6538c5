package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/store/sqlite"
	"linerate/internal/store/storetest"
)

var nobody = sqlite.Owner{UID: -1, GID: -1}

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// TestReadOnly: SQLite itself refuses writes through a read-only ledger, and looking for a ledger does not
// create one.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if s, err := sqlite.OpenReadOnly(t.Context(), path, nobody); err == nil {
		t.Error("a ledger that does not exist was opened", s.Close())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("looking for a ledger created one")
	}
	if err := writeFile(path, ""); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.OpenReadOnly(t.Context(), path, nobody); err == nil {
		t.Error("an empty file was opened as a ledger", s.Close())
	}
	s, err := sqlite.Open(t.Context(), path, nobody)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := sqlite.UnwrappedReadOnly(t.Context(), path, nobody)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if n, err := w.Append(t.Context(), storetest.Sample("never")); err == nil {
		t.Errorf("%d entries were accepted", n)
	}
	if _, err := w.BeginSweep(t.Context(), fleet.Sweep{ID: "never", Start: time.Now()}); err == nil {
		t.Error("a sweep was started")
	}
}
