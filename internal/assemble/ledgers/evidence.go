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

// own reads from the user's own ledger, if there is one. If it cannot be read, that is an error
// only if the user named it; otherwise doubt gets the error, and the evidence shipped with linerate
// suffices.
func own(ctx context.Context, place string, doubt func(error), read func(ledger.Reader) error) error {
	err := ReadAny(ctx, place, read)
	if err != nil && place == "" {
		doubt(fmt.Errorf("no evidence from your ledger: %w", err))
		return nil
	}
	return err
}

// Lines returns the measurements of a name in the user's own ledger.
func Lines(ctx context.Context, place, name string, doubt func(error)) (lines []ledger.Line, err error) {
	err = own(ctx, place, doubt, func(s ledger.Reader) error {
		lines, err = ledger.Lines(ctx, s, ledger.Filter{Names: []string{name}})
		return err
	})
	return lines, err
}

// Evidence returns all known measurements: the table shipped with linerate, and those in the user's
// own ledger.
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

// Known returns a ledger's verdicts about tunables of the catalogue.
func Known(ctx context.Context, s ledger.Reader) ([]evidence.Row, error) {
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	return ledger.Known(ctx, s, c)
}

// Explain adds evidence to a tunable's page: from the user's own ledger, of the tunable and others
// of the same concept on its system, and what ships with linerate.
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
