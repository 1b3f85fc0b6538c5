package sqlite

import (
	"context"

	"linerate/internal/ledger"
	"linerate/internal/store"
)

// UnwrappedReadOnly is what OpenReadOnly hands out only the reading half of.
func UnwrappedReadOnly(ctx context.Context, path string, owner Owner) (ledger.Store, error) {
	return openLedger(ctx, path, owner, reading, store.ReadOnlyLedger)
}
