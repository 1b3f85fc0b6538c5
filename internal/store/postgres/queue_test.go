package postgres_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"linerate/internal/labtest/pgserver"
	"linerate/internal/queue"
	"linerate/internal/queue/queuetest"
	"linerate/internal/store/postgres"
)

func TestQueueConformance(t *testing.T) {
	pgserver.Need(t)
	queuetest.Run(t, func(t *testing.T) queuetest.Open {
		at := pgserver.Database(t)
		return func(t *testing.T, p queue.Patience) queue.Queue {
			q, err := postgres.OpenQueue(t.Context(), at, p)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { q.Close() })
			return q
		}
	})
}

func TestQueueHidesThePassword(t *testing.T) {
	for _, u := range []string{"postgres://u:geheim@[bad", "postgres://u:geheim@127.0.0.1:1/x?connect_timeout=1"} {
		if _, err := postgres.OpenQueue(t.Context(), u, queue.DefaultPatience); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("Open: %v", err)
		}
	}
}

func TestQueueReadOnly(t *testing.T) {
	at := pgserver.Database(t)
	open := func() (queue.Reader, error) { return postgres.OpenQueueReadOnly(t.Context(), at) }
	if _, err := open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database without a queue: %v", err)
	}
	q, err := postgres.OpenQueue(t.Context(), at, queue.DefaultPatience)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	queuetest.ReadOnly(t, q, open)
}
