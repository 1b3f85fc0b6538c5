package sqlite

import (
	"context"

	"linerate/internal/ledger"
	"linerate/internal/store"
)

// UnwrappedReadOnly returns the full store of which OpenReadOnly returns only the reading methods.
func UnwrappedReadOnly(ctx context.Context, path string, owner Owner) (ledger.Store, error) {
	return openLedger(ctx, path, owner, reading, store.ReadOnlyLedger)
}
