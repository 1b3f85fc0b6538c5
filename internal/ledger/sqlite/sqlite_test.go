package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/ledger"
	"linerate/internal/ledger/ledgertest"
	"linerate/internal/ledger/sqlite"
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
