package ledgers

import (
	"context"
	"errors"
	"strings"

	"linerate/catalogue"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// Explain puts on a tunable's page what the user's own ledger knows of it and of the
// tunables that have the same concept on its system, and what ships with linerate.
func Explain(ctx context.Context, place string, c *tunable.Catalogue, r *tunable.Record, p *explain.Page, doubt func(error)) error {
	var mine, siblings []evidence.Row
	err := own(ctx, place, doubt, func(s ledger.Store) (err error) {
		mine, siblings, err = evidenceOf(ctx, s, c, r)
		return err
	})
	all, aerr := catalogue.Evidence()
	var shipped []evidence.Row
	for _, row := range all {
		if row.Tunable == r.Name && strings.EqualFold(row.OS, r.OS) {
			shipped = append(shipped, row)
		}
	}
	p.AddEvidence(mine, siblings, shipped)
	return errors.Join(err, aerr)
}

// evidenceOf reads the ledger's verdicts about a tunable, and about those of
// the same concept.
func evidenceOf(ctx context.Context, s ledger.Store, c *tunable.Catalogue, r *tunable.Record) (mine, siblings []evidence.Row, err error) {
	lines, err := ledger.Lines(ctx, s, ledger.Filter{Names: []string{r.Name}})
	if err != nil || r.Concept == "" {
		return ledger.Rows(lines), nil, err
	}
	names := []string{r.Concept}
	for _, o := range c.WithConcept(r.Concept) {
		if o.Name != r.Name {
			names = append(names, o.Name)
		}
	}
	others, err := ledger.Lines(ctx, s, ledger.Filter{Names: names})
	return ledger.Rows(lines), ledger.Rows(others), err
}
