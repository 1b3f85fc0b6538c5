package ledgers

import (
	"context"
	"errors"
	"strings"

	"linerate/catalogue"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// Explain puts on a tunable's page what the user's own ledger knows of it and of the
// tunables that have the same concept on its system, and what ships with linerate.
func Explain(ctx context.Context, place string, c *tunable.Catalogue, r *tunable.Record, p *explain.Page, doubt func(error)) error {
	var mine, siblings []evidence.Row
	err := own(ctx, place, doubt, func(s ledger.Store) (err error) {
		mine, siblings, err = ledger.About(ctx, s, c, r)
		return err
	})
	all, aerr := catalogue.Evidence()
	shipped := list.Filter(all, func(row evidence.Row) bool { return row.Tunable == r.Name && strings.EqualFold(row.OS, r.OS) })
	p.AddEvidence(mine, siblings, shipped)
	return errors.Join(err, aerr)
}
