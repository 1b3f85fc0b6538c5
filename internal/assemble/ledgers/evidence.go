package ledgers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"linerate/catalogue"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// own reads from the user's own ledger, where there is one. One that cannot be read is an
// error where somebody named it, and otherwise handed to doubt: what ships with linerate
// stands without it.
func own(ctx context.Context, place string, doubt func(error), read func(ledger.Reader) error) error {
	err := ReadAny(ctx, place, read)
	if err != nil && place == "" {
		doubt(fmt.Errorf("no evidence of your own: %w", err))
		return nil
	}
	return err
}

// Lines is what the user's own ledger has measured under a name.
func Lines(ctx context.Context, place, name string, doubt func(error)) (lines []ledger.Line, err error) {
	err = own(ctx, place, doubt, func(s ledger.Reader) error {
		lines, err = ledger.Lines(ctx, s, ledger.Filter{Names: []string{name}})
		return err
	})
	return lines, err
}

// Evidence is all that is known to have been measured: the table that ships with
// linerate, and what the user's own ledger adds to it.
func Evidence(ctx context.Context, place string, doubt func(error)) ([]evidence.Row, error) {
	rows, err := catalogue.Evidence()
	if err != nil {
		return nil, err
	}
	err = own(ctx, place, doubt, func(s ledger.Reader) error {
		known, err := Known(ctx, s)
		rows = evidence.Merge(known, rows)
		return err
	})
	return rows, err
}

// Known are a ledger's verdicts about tunables of the catalogue.
func Known(ctx context.Context, s ledger.Reader) ([]evidence.Row, error) {
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	return ledger.Known(ctx, s, c)
}

// Explain puts on a tunable's page what the user's own ledger knows of it and of the
// tunables that have the same concept on its system, and what ships with linerate.
func Explain(ctx context.Context, place string, c *tunable.Catalogue, r *tunable.Record, p *explain.Page, doubt func(error)) error {
	var mine, siblings []evidence.Row
	err := own(ctx, place, doubt, func(s ledger.Reader) (err error) {
		mine, siblings, err = ledger.About(ctx, s, c, r)
		return err
	})
	all, aerr := catalogue.Evidence()
	shipped := list.Filter(all, func(row evidence.Row) bool { return row.Tunable == r.Name && strings.EqualFold(row.OS, r.OS) })
	p.AddEvidence(mine, siblings, shipped)
	return errors.Join(err, aerr)
}
