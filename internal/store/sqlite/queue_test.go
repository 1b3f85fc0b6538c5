package sqlite_test

import (
	"path/filepath"
	"testing"

	"linerate/internal/queue"
	"linerate/internal/queue/queuetest"
	"linerate/internal/store/sqlite"
)

func TestQueueConformance(t *testing.T) {
	queuetest.Run(t, func(t *testing.T) queuetest.Open {
		file := filepath.Join(t.TempDir(), "queue.db")
		return func(t *testing.T, p queue.Patience) queue.Queue {
			q, err := sqlite.OpenQueue(t.Context(), file, sqlite.Owner{UID: -1, GID: -1}, p)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { q.Close() })
			return q
		}
	})
}

func TestQueueReadOnly(t *testing.T) {
	file, owner := filepath.Join(t.TempDir(), "queue.db"), sqlite.Owner{UID: -1, GID: -1}
	open := func() (queue.Reader, error) { return sqlite.OpenQueueReadOnly(t.Context(), file, owner) }
	if r, err := open(); err == nil {
		t.Error("a queue that is not there was opened", r.Close())
	}
	q, err := sqlite.OpenQueue(t.Context(), file, owner, queue.DefaultPatience)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	queuetest.ReadOnly(t, q, open)
}
