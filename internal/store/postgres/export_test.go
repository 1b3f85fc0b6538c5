package postgres

import (
	"context"

	"linerate/internal/ledger"
	"linerate/internal/store"
)

// UnwrappedReadOnly returns the full store of which OpenReadOnly returns only the reading methods.
func UnwrappedReadOnly(ctx context.Context, url string) (ledger.Store, error) {
	return open(ctx, url, onlyReading, store.ReadOnlyLedger)
}
