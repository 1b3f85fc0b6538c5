package postgres_test

import (
	"context"
	"strings"
	"testing"

	"linerate/internal/labtest/pgserver"
	"linerate/internal/ledger"
	"linerate/internal/ledger/ledgertest"
	"linerate/internal/store/postgres"
)

func TestMain(m *testing.M) { pgserver.Main(m) }

func TestConformance(t *testing.T) {
	pgserver.Need(t)
	ledgertest.Run(t, func(t *testing.T) ledgertest.Open {
		at := pgserver.Database(t)
		return func(t *testing.T) ledger.Store {
			s, err := postgres.Open(context.Background(), at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		}
	})
}

func TestOpenHidesThePassword(t *testing.T) {
	for _, u := range []string{"postgres://u:geheim@[bad", "postgres://u:geheim@127.0.0.1:1/x?connect_timeout=1"} {
		if _, err := postgres.Open(t.Context(), u); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("Open: %v", err)
		}
	}
}

// TestReadOnly: PostgreSQL itself refuses to write what was opened to be read.
func TestReadOnly(t *testing.T) {
	at := pgserver.Database(t)
	open := func() (ledger.Reader, error) { return postgres.OpenReadOnly(context.Background(), at) }
	ledgertest.ReadOnlyEmpty(t, open)
	s, err := postgres.Open(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ledgertest.ReadOnly(t, s, open, func() (ledger.Store, error) { return postgres.UnwrappedReadOnly(context.Background(), at) })
}
