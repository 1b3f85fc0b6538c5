package store_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/labtest/pgserver"
	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/store/postgres"
	"linerate/internal/store/sqlite"
)

func TestMain(m *testing.M) {
	labtest.InMemory() // the tests kill processes, not machines
	pgserver.Main(m)
}

// place is an empty database for a test, and how to open it.
type place struct {
	ledger     openLedger
	queue      openQueue
	readLedger func() (ledger.Reader, error)
	readQueue  func() (queue.Reader, error)
}

// databases are those on which the suites run.
var databases = []struct {
	name  string
	fresh func(t *testing.T) place
}{{"sqlite", sqlitePlace}, {"postgres", postgresPlace}}

func sqlitePlace(t *testing.T) place {
	at, jobs, owner := filepath.Join(t.TempDir(), "a folder", "ledger ?#%.db"), filepath.Join(t.TempDir(), "queue.db"), sqlite.Owner{UID: -1, GID: -1}
	return place{
		func(t *testing.T) ledger.Store { return closed[ledger.Store](t)(sqlite.Open(t.Context(), at, owner)) },
		func(t *testing.T, p queue.Patience) queue.Queue {
			return closed[queue.Queue](t)(sqlite.OpenQueue(t.Context(), jobs, owner, p))
		},
		func() (ledger.Reader, error) { return sqlite.OpenReadOnly(t.Context(), at, owner) },
		func() (queue.Reader, error) { return sqlite.OpenQueueReadOnly(t.Context(), jobs, owner) },
	}
}

func postgresPlace(t *testing.T) place {
	at := pgserver.Database(t)
	return place{
		func(t *testing.T) ledger.Store {
			return closed[ledger.Store](t)(postgres.Open(context.Background(), at))
		},
		func(t *testing.T, p queue.Patience) queue.Queue {
			return closed[queue.Queue](t)(postgres.OpenQueue(t.Context(), at, p))
		},
		func() (ledger.Reader, error) { return postgres.OpenReadOnly(context.Background(), at) },
		func() (queue.Reader, error) { return postgres.OpenQueueReadOnly(t.Context(), at) },
	}
}

// closed checks an open, and closes the result at the end of the test.
func closed[T io.Closer](t *testing.T) func(T, error) T {
	return func(opened T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { opened.Close() })
		return opened
	}
}
