package postgres_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/labtest/pgserver"
	"linerate/internal/queue"
	"linerate/internal/store/postgres"
	"linerate/internal/store/storetest"
)

func TestMain(m *testing.M) { pgserver.Main(m) }

func TestOpenHidesThePassword(t *testing.T) {
	for _, u := range []string{"postgres://u:geheim@[bad", "postgres://u:geheim@127.0.0.1:1/x?connect_timeout=1"} {
		if _, err := postgres.Open(t.Context(), u); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("Open: %v", err)
		}
		if _, err := postgres.OpenQueue(t.Context(), u, queue.DefaultPatience); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("OpenQueue: %v", err)
		}
	}
}

// TestReadOnly: PostgreSQL itself refuses writes through a read-only ledger.
func TestReadOnly(t *testing.T) {
	at := pgserver.Database(t)
	if _, err := postgres.OpenQueueReadOnly(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database without a queue: %v", err)
	}
	s, err := postgres.Open(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := postgres.UnwrappedReadOnly(context.Background(), at)
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
