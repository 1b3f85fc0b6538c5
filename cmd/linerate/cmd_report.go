package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
	"linerate/internal/study/record"
	"linerate/internal/studydir"
)

func newReportCmd() *cobra.Command {
	var verify bool
	var fail, at string
	cmd := &cobra.Command{
		Use:   "report DIR|STUDY",
		Short: "print a study's results, derived from its trials",
		Long: `Analyse a study's trials again, print the report, and rewrite results.json and
report.html in its directory. The trials are never changed.

With --verify nothing is written: report reads the raw slices, checks their
hashes, and derives the trials from them again. Exit code 1 if anything differs.

STUDY may also be a study in the ledger, by identifier, name or directory.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFailOn(fail); err != nil {
				return err
			}
			if _, err := os.Stat(args[0]); os.IsNotExist(err) && !verify {
				return reportFromLedger(cmd, at, args[0], fail)
			}
			if verify {
				return verifyStudy(cmd, args[0])
			}
			rec, err := studydir.Read(args[0])
			if err != nil {
				return err
			}
			r := derive(cmd, rec)
			if err := writeOutcome(args[0], rec.Spec, r); err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "linerate: %v\n", err)
			}
			if err := printResults(cmd, rec.Spec, r); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(args[0], studydir.ReportFile))
			return failOnResults(fail, r)
		},
	}
	cli.JSONFlag(cmd)
	cmd.Flags().BoolVar(&verify, "verify", false, "derive the trials from their raw slices again, and write nothing")
	addFailOn(cmd, &fail)
	addLedgerFlag(cmd, &at)
	return cmd
}

// verifyStudy holds a study's trials against the raw slices in its directory.
func verifyStudy(cmd *cobra.Command, dir string) error {
	v, err := studydir.Verify(dir)
	if err != nil {
		return err
	}
	err = cli.Print(cmd, v, func(w io.Writer) error { printVerification(w, dir, v); return nil })
	if err == nil && !v.OK {
		return hint.Exit(cli.ExitFailed)
	}
	return err
}

func printVerification(w io.Writer, dir string, v record.Verification) {
	for _, p := range v.Problems {
		fmt.Fprintf(w, "wrong: %s\n", p)
	}
	state := "verified"
	if !v.OK {
		state = "NOT verified"
	}
	fmt.Fprintf(w, "%s: %s: %s of slices, %s derived from them again", dir, state, show.Plural(v.Files, "file"), show.Plural(v.Trials, "trial"))
	if v.Without > 0 {
		fmt.Fprintf(w, "; %s without slices", show.Plural(v.Without, "trial"))
	}
	fmt.Fprintln(w, ".")
}

// reportFromLedger prints the results of one of linerate's own studies in the ledger.
func reportFromLedger(cmd *cobra.Command, flag, arg, fail string) error {
	ctx := cmd.Context()
	return ledgers.OfStudy(ctx, flag, arg, func(s ledger.Store, st *ledger.Study) error {
		if st.Kind != ledger.KindStudy {
			return hint.With(fmt.Errorf("study %s was imported, without trials to analyse", st.Name), "linerate ledger query --study %s prints its verdicts", st.ID.Short())
		}
		rec, err := ledger.OpenRecord(ctx, s, st)
		if err != nil {
			return err
		}
		r := derive(cmd, rec)
		if err := printResults(cmd, rec.Spec, r); err != nil {
			return err
		}
		return failOnResults(fail, r)
	})
}
