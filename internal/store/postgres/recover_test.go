package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRecovered: a server that is starting or recovering is waited for; other errors are returned.
func TestRecovered(t *testing.T) {
	starting := fmt.Errorf("connect: %w", &pgconn.PgError{Code: "57P03"})
	tries := 0
	if err := recovered(t.Context(), func() error {
		if tries++; tries < 3 {
			return starting
		}
		return nil
	}); err != nil || tries != 3 {
		t.Errorf("%d tries: %v", tries, err)
	}
	refused := errors.New("refused")
	tries = 0
	if err := recovered(t.Context(), func() error { tries++; return refused }); !errors.Is(err, refused) || tries != 1 {
		t.Errorf("%d tries: %v", tries, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := recovered(ctx, func() error { return starting }); !errors.Is(err, starting) {
		t.Errorf("cancelled: %v", err)
	}
}
