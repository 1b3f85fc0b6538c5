package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// noteStudy takes a finished study into the ledger. The study's directory is
// the record: a ledger that cannot be written is said and changes nothing.
func noteStudy(cmd *cobra.Command, flag, dir string) {
	err := withLedger(cmd.Context(), flag, func(s ledger.Store) error {
		_, err := addStudyDir(cmd.Context(), s, dir)
		return err
	})
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "not in the ledger: %v\nhint: linerate ledger import %s\n", err, dir)
	}
}

// inLedger opens the ledger for a study that an argument names instead of a
// directory.
func inLedger(ctx context.Context, flag, arg string, f func(ledger.Store, *ledger.Study) error) error {
	missing := hint.With(hint.Usagef("no file or directory %s, and no study of the ledger", arg), "linerate ledger show lists the studies")
	s, err := existingLedger(ctx, flag)
	if err != nil {
		return err
	}
	if s == nil {
		return missing
	}
	studies, err := s.Studies(ctx, ledger.Filter{Study: arg})
	switch {
	case err != nil:
	case len(studies) == 0:
		err = missing
	case len(studies) > 1:
		var places []string
		for _, st := range studies[:min(len(studies), 5)] {
			places = append(places, st.ID.Short()+" "+st.Place)
		}
		err = hint.With(hint.Usagef("%q means %d studies", arg, len(studies)), "one of: %s", strings.Join(places, "; "))
	default:
		err = f(s, &studies[0])
	}
	return errors.Join(err, s.Close())
}

// reportFromLedger prints what a study of the ledger came to: linerate's own
// from its record, somebody else's from its evidence.
func reportFromLedger(cmd *cobra.Command, flag, arg, fail string, asJSON bool) error {
	ctx := cmd.Context()
	return inLedger(ctx, flag, arg, func(s ledger.Store, st *ledger.Study) error {
		if st.Kind != ledger.KindStudy {
			return reportArchive(cmd, s, st, asJSON)
		}
		rec, err := ledger.OpenRecord(ctx, s, st)
		if err != nil {
			return err
		}
		r := derive(cmd, rec)
		if err := printResults(cmd, r, asJSON); err != nil {
			return err
		}
		return failOnResults(fail, r)
	})
}

// derive analyses a record's trials, and says what is odd about the record.
func derive(cmd *cobra.Command, rec *record.Record) study.Results {
	r := rec.Results()
	for _, w := range rec.Warnings(r) {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: %s\n", rec.Name, w)
	}
	return r
}

func reportArchive(cmd *cobra.Command, s ledger.Store, st *ledger.Study, asJSON bool) error {
	lines, err := ledger.Lines(cmd.Context(), s, ledger.Filter{Study: string(st.ID)})
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if asJSON {
		return cli.PrintJSON(w, map[string]any{"version": 1, "study": st, "evidence": nonNil(lines)})
	}
	fmt.Fprintf(w, "%s\n%s\n", st.Question, st.Place)
	for _, f := range st.Facts {
		fmt.Fprintf(w, "  - %s\n", f)
	}
	fmt.Fprintf(w, "(%s)\n\n", st.Label)
	if len(lines) == 0 {
		fmt.Fprintln(w, "No variants to compare.")
		return nil
	}
	return printEvidence(w, lines)
}

// ledgerArms are the trials of an archive's study as samples, its control
// first.
func ledgerArms(ctx context.Context, s ledger.Store, st *ledger.Study, metric, control, workload string) ([]stats.Arm, error) {
	trials, err := s.Trials(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	if metric == "" {
		metric = st.Metric
	}
	if control == "" {
		if ev, err := s.Evidence(ctx, ledger.Filter{Study: string(st.ID), Workload: workload, Limit: 1}); err == nil && len(ev) > 0 {
			control = ev[0].Verdict.Control
		}
	}
	var arms []stats.Arm
	var workloads []string
	for i := range trials {
		t := &trials[i]
		v, ok := t.Metrics[metric]
		if !t.Valid || !ok || !strings.Contains(strings.ToLower(t.Workload), strings.ToLower(workload)) {
			continue
		}
		if !slices.Contains(workloads, t.Workload) {
			workloads = append(workloads, t.Workload)
		}
		at := slices.IndexFunc(arms, func(a stats.Arm) bool { return a.Name == t.Variant })
		if at < 0 {
			at = len(arms)
			arms = append(arms, stats.Arm{Name: t.Variant})
		}
		arms[at].Values = append(arms[at].Values, v)
	}
	if len(workloads) > 1 {
		return nil, hint.With(hint.Usagef("%s has %d workloads", st.Name, len(workloads)), "choose one: --workload %q", workloads[0])
	}
	slices.SortStableFunc(arms, func(a, b stats.Arm) int {
		switch {
		case a.Name == control && b.Name != control:
			return -1
		case b.Name == control && a.Name != control:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return arms, nil
}
