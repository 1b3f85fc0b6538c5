package river_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"linerate/internal/labtest/pgserver"
	"linerate/internal/queue"
	"linerate/internal/queue/queuetest"
	"linerate/internal/queue/river"
)

func TestMain(m *testing.M) { pgserver.Main(m) }

func TestConformance(t *testing.T) {
	pgserver.Need(t)
	queuetest.Run(t, func(t *testing.T) queuetest.Open {
		at := pgserver.Database(t)
		return func(t *testing.T, p queue.Patience) queue.Queue {
			q, err := river.Open(t.Context(), at, p)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { q.Close() })
			return q
		}
	})
}

func TestOpenHidesThePassword(t *testing.T) {
	for _, u := range []string{"postgres://u:geheim@[bad", "postgres://u:geheim@127.0.0.1:1/x?connect_timeout=1"} {
		if _, err := river.Open(t.Context(), u, queue.DefaultPatience); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("Open: %v", err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	at := pgserver.Database(t)
	open := func() (queue.Reader, error) { return river.OpenReadOnly(t.Context(), at) }
	if _, err := open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database without a queue: %v", err)
	}
	q, err := river.Open(t.Context(), at, queue.DefaultPatience)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	queuetest.ReadOnly(t, q, open)
}
