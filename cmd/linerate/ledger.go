package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

const ledgerFlagUsage = "ledger: a file or postgres://… (default: LINERATE_LEDGER, else your state directory)"

// addLedgerFlag gives a command --ledger.
func addLedgerFlag(cmd *cobra.Command, at *string) {
	cmd.Flags().StringVar(at, "ledger", "", ledgerFlagUsage)
}

// doubting writes a warning that takes nothing away from the answer.
func doubting(cmd *cobra.Command) func(error) {
	return func(err error) { fmt.Fprintln(cmd.ErrOrStderr(), err) }
}

// noteStudy takes a finished study into the ledger. The study's directory is
// the record: one that cannot be written is a warning and changes nothing.
func noteStudy(cmd *cobra.Command, flag, dir string) {
	err := ledgers.With(cmd.Context(), flag, func(s ledger.Store) error {
		_, err := addStudyDir(cmd.Context(), s, dir)
		return err
	})
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "not in the ledger: %v\nhint: linerate ledger import %s\n", err, dir)
	}
}

// derive analyses a record's trials, and says what is odd about the record.
func derive(cmd *cobra.Command, rec *record.Record) study.Results {
	r := rec.Results()
	for _, w := range rec.Warnings(r) {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: %s\n", rec.Name, w)
	}
	return r
}

// printEvidence prints evidence as tables.
func printEvidence(w io.Writer, lines []ledger.Line) error {
	page := show.NewPage(cli.StyleOf(w))
	evidence.Print(page, ledger.Rows(lines))
	return page.Flush(w)
}
