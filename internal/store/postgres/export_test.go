package postgres

import (
	"context"

	"linerate/internal/ledger"
	"linerate/internal/store"
)

// UnwrappedReadOnly is what OpenReadOnly hands out only the reading half of.
func UnwrappedReadOnly(ctx context.Context, url string) (ledger.Store, error) {
	return open(ctx, url, onlyReading, store.ReadOnlyLedger)
}
