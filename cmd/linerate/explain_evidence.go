package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/ledger"
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
		fmt.Fprintf(cmd.ErrOrStderr(), "no evidence: %v\n", err)
		return nil
	}
	return err
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
		Tunable: l.Tunable, Sibling: sibling, Before: l.Before, After: l.After, Alone: l.Alone, Machine: machineOf(l),
		OS: l.OS, Release: l.Release, Workload: l.Workload, Study: l.Study, Source: l.Source, Metric: l.Metric, EffectText: l.EffectText(),
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
