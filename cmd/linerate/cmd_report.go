package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/internal/studydir"
)

func newReportCmd() *cobra.Command {
	var asJSON bool
	var fail, at string
	cmd := &cobra.Command{
		Use:   "report DIR|STUDY",
		Short: "what a study came to, from its trials",
		Long: `Analyse a study's trials again, print the report, and rewrite results.json and
report.html in its directory. The trials are never changed.

A study of the ledger, by identifier, name or place, is reported from there.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFailOn(fail); err != nil {
				return err
			}
			if _, err := os.Stat(args[0]); os.IsNotExist(err) {
				return reportFromLedger(cmd, at, args[0], fail, asJSON)
			}
			rec, err := studydir.Read(args[0])
			if err != nil {
				return err
			}
			r := derive(cmd, rec)
			if err := writeOutcome(args[0], rec.Spec, r); err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "linerate: %v\n", err)
			}
			if err := printResults(cmd, r, asJSON); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(args[0], studydir.ReportFile))
			return failOnResults(fail, r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as one JSON document")
	addFailOn(cmd, &fail)
	addLedgerFlag(cmd, &at)
	return cmd
}
