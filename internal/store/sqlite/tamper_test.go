package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/ledger"
	"linerate/internal/store/sqlite"
	"linerate/internal/store/storetest"
)

// TestTampering: any change behind the ledger's back is detected.
func TestTampering(t *testing.T) {
	for _, c := range []struct{ name, sql, says string }{
		{"a number", `UPDATE trials SET doc = replace(doc, '700000', '999999')`, "was changed after it was stored"},
		{"a column", `UPDATE verdicts SET verdict = 'worse'`, "columns do not say"},
		{"a digest with its record", `UPDATE exclusions SET doc = doc; UPDATE trials SET doc = replace(doc, '700000', '999999'), digest = substr(digest, 2) || '0'`, "changed"},
		{"a deleted row", `DELETE FROM trials WHERE id = (SELECT MIN(id) FROM trials)`, "are not those it was sealed with"},
		{"an added row", `INSERT INTO exclusions (id, entry, digest, doc) VALUES ('ab', 1, 'cd', '{}')`, "changed"},
		{"a deleted entry", `DELETE FROM entries WHERE seq = 1`, "does not exist"},
		{"an entry's time", `UPDATE entries SET time = '2020-01-01T00:00:00Z' WHERE seq = 1`, "was changed after it was written"},
		{"an entry's link", `UPDATE entries SET prev = hash WHERE seq = 2`, "does not continue"},
		{"a truncated end", `DELETE FROM entries WHERE seq = 3`, "no entry has the hash"},
		{"raw bytes", `UPDATE blobs SET data = x'00'`, "do not have that hash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			s := reopenAt(t, path)
			for _, n := range []string{"one", "two", "three"} {
				if _, err := s.Append(t.Context(), storetest.Sample(n)); err != nil {
					t.Fatal(err)
				}
			}
			head, _, err := s.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(c.sql); err != nil {
				t.Fatal(err)
			}
			r, err := ledger.Verify(t.Context(), s, head.Hash)
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(r.Problems, "\n"); r.OK || !strings.Contains(all, c.says) {
				t.Errorf("ok %v, problems %q; want %q", r.OK, all, c.says)
			}
		})
	}
}

func reopenAt(t *testing.T, path string) ledger.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, nobody)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestNewer: a ledger with a newer schema is not modified.
func TestNewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	reopenAt(t, path).Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("INSERT INTO schema_version (version) VALUES (99)"); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path, nobody); err == nil || !strings.Contains(err.Error(), "newer linerate") {
		t.Errorf("opening it: %v", err)
	}
}

// TestNoDatabase: a file that is not a database is refused as damaged, and kept.
func TestNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := writeFile(path, strings.Repeat("no database ", 1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path, nobody); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("opening it: %v", err)
	}
}
