package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/studydir"
)

func newReportCmd() *cobra.Command {
	var fail, at string
	cmd := verb("report", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if err := checkFailOn(fail); err != nil {
			return err
		}
		if _, err := os.Stat(args[0]); os.IsNotExist(err) {
			return reportFromLedger(cmd, at, args[0], fail)
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
	})
	cli.JSONFlag(cmd)
	addFailOn(cmd, &fail)
	addLedgerFlag(cmd, &at)
	return cmd
}

// reportFromLedger prints the results of a study that linerate ran and the ledger keeps.
func reportFromLedger(cmd *cobra.Command, flag, arg, fail string) error {
	ctx := cmd.Context()
	return assemble.LedgerOfStudy(ctx, flag, arg, func(s ledger.Reader, st *ledger.Study) error {
		if st.Kind != ledger.KindStudy {
			return hint.With(fmt.Errorf("the ledger has no trials of study %s to analyse", st.Name), "linerate ledger query --study %s prints its verdicts", st.ID.Short())
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
