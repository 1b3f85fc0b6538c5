package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/stats"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// addEvidence puts what the ledger knows of a tunable on its page, and of the
// tunables that have the same concept on its system. A ledger that cannot be
// read is said and does not keep the page back, unless it was asked for.
func addEvidence(cmd *cobra.Command, flag string, c *tunable.Catalogue, r *tunable.Record, p *explain.Page) error {
	s, err := existingLedger(cmd.Context(), flag)
	if err == nil && s != nil {
		err = errors.Join(evidenceOf(cmd, s, c, r, p), s.Close())
	}
	if err != nil && flag == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "no evidence of your own: %v\n", err)
		err = nil
	}
	return errors.Join(err, addShipped(r, p))
}

// addShipped adds what the program ships with, after what the user's own
// ledger knows, each verdict once.
func addShipped(r *tunable.Record, p *explain.Page) error {
	rows, err := catalogue.Evidence()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range p.Evidence {
		seen[p.Evidence[i].ID] = true
	}
	better, worse := false, false
	for _, row := range rows {
		if row.Tunable != r.Name || !strings.EqualFold(row.OS, r.OS) {
			continue
		}
		better, worse = better || row.Verdict == stats.Better, worse || row.Verdict == stats.Worse
		if !seen[row.ID] {
			p.Evidence = append(p.Evidence, shipped(row))
		}
	}
	p.Conflict = p.Conflict || better && worse
	return nil
}

// shipped is a row of the program's own table as explain shows it.
func shipped(r evidence.Row) explain.Evidence {
	return explain.Evidence{ID: r.ID, Tunable: r.Tunable, Before: r.Before, After: r.After, Alone: r.Alone, Machine: r.Machine(), OS: r.OS, Release: r.Release,
		Workload: r.Workload, Study: r.Study, Source: r.Source, Metric: r.Metric, Primary: true, MetricLabel: metricLabel(r.Metric),
		EffectText: r.Effect.Text() + " " + r.Bounds(),
		Effect:     r.Effect, N: r.N, PHolm: r.PHolm, Verdict: r.Verdict, Flags: slices.Clone(r.Flags)}
}

func evidenceOf(cmd *cobra.Command, s ledger.Store, c *tunable.Catalogue, r *tunable.Record, p *explain.Page) error {
	own, err := evidenceLines(cmd.Context(), s, ledger.Filter{Names: []string{r.Name}})
	if err != nil {
		return err
	}
	p.Conflict = ledger.Disagreement(own)
	seen := map[string]bool{}
	for i := range own {
		seen[own[i].VerdictID] = true
		p.Evidence = append(p.Evidence, explained(&own[i], false))
	}
	if r.Concept == "" {
		return nil
	}
	names := []string{r.Concept}
	for _, o := range c.WithConcept(r.Concept) {
		if o.Name != r.Name {
			names = append(names, o.Name)
		}
	}
	others, err := evidenceLines(cmd.Context(), s, ledger.Filter{Names: names})
	if err != nil {
		return err
	}
	for i := range others {
		if !seen[others[i].VerdictID] {
			p.Evidence = append(p.Evidence, explained(&others[i], true))
		}
	}
	return nil
}

// explained is a line of evidence as explain shows it.
func explained(l *ledger.Line, sibling bool) explain.Evidence {
	e := explain.Evidence{
		ID: l.VerdictID, Tunable: l.Tunable, Sibling: sibling, Before: l.Before, After: l.After, Alone: l.Alone, Machine: machineOf(l),
		OS: l.OS, Release: l.Release, Workload: l.Workload, Study: l.Study, Source: l.Source, Metric: l.Metric, Primary: l.Primary, MetricLabel: metricLabel(l.Metric), EffectText: l.EffectText(),
		Effect: l.Effect, N: l.N, PHolm: l.PHolm, Verdict: l.Verdict,
		Flags: slices.Clone(l.Flags), Excluded: l.Excluded, Label: l.Label,
	}
	if l.Published != nil {
		e.Published, e.Agrees = l.Published.Verdict, l.Published.Agrees
	}
	if l.Without != nil {
		e.Flags = append(e.Flags, fmt.Sprintf("without %d excluded trials: %s, %s", l.Dropped, l.Without.EffectText(), l.Without.Verdict))
	}
	return e
}
