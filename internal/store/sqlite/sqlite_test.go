package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/ledger"
	"linerate/internal/ledger/ledgertest"
	"linerate/internal/store/sqlite"
)

var nobody = sqlite.Owner{UID: -1, GID: -1}

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

func TestConformance(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledgertest.Open {
		path := filepath.Join(t.TempDir(), "a folder", "ledger ?#%.db")
		return func(t *testing.T) ledger.Store {
			s, err := sqlite.Open(t.Context(), path, nobody)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		}
	})
}

// TestReadOnly: SQLite itself refuses to write what was opened to be read.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	open := func() (ledger.Reader, error) { return sqlite.OpenReadOnly(t.Context(), path, nobody) }
	ledgertest.ReadOnlyEmpty(t, open)
	if _, err := os.Stat(path); err == nil {
		t.Error("looking for a ledger made one")
	}
	if err := writeFile(path, ""); err != nil {
		t.Fatal(err)
	}
	ledgertest.ReadOnlyEmpty(t, open)
	s, err := sqlite.Open(t.Context(), path, nobody)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ledgertest.ReadOnly(t, s, open, func() (ledger.Store, error) { return sqlite.UnwrappedReadOnly(t.Context(), path, nobody) })
}
