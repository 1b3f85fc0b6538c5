package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// addEvidence puts what the ledger knows of a tunable on its page, and of the
// tunables that have the same concept on its system, and what ships with the
// program. A ledger that cannot be read is said and does not keep the page
// back, unless it was asked for.
func addEvidence(cmd *cobra.Command, flag string, c *tunable.Catalogue, r *tunable.Record, p *explain.Page) error {
	var own, siblings []evidence.Row
	s, err := existingLedger(cmd.Context(), flag)
	if err == nil && s != nil {
		own, siblings, err = evidenceOf(cmd, s, c, r)
		err = errors.Join(err, s.Close())
	}
	if err != nil && flag == "" {
		ownUnread(cmd.ErrOrStderr(), err)
		err = nil
	}
	all, aerr := catalogue.Evidence()
	var shipped []evidence.Row
	for _, row := range all {
		if row.Tunable == r.Name && strings.EqualFold(row.OS, r.OS) {
			shipped = append(shipped, row)
		}
	}
	p.AddEvidence(own, siblings, shipped)
	return errors.Join(err, aerr)
}

// evidenceOf reads the ledger's verdicts about a tunable, and about those of
// the same concept.
func evidenceOf(cmd *cobra.Command, s ledger.Store, c *tunable.Catalogue, r *tunable.Record) (own, siblings []evidence.Row, err error) {
	lines, err := ledger.Lines(cmd.Context(), s, ledger.Filter{Names: []string{r.Name}})
	if err != nil || r.Concept == "" {
		return ledger.Rows(lines), nil, err
	}
	names := []string{r.Concept}
	for _, o := range c.WithConcept(r.Concept) {
		if o.Name != r.Name {
			names = append(names, o.Name)
		}
	}
	others, err := ledger.Lines(cmd.Context(), s, ledger.Filter{Names: names})
	return ledger.Rows(lines), ledger.Rows(others), err
}
