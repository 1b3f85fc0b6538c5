package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/ledger"
)

func newLedgerVerifyCmd() *cobra.Command {
	var at, head string
	cmd := verb("ledger verify", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return ledgers.Read(cmd.Context(), at, func(s ledger.Store) error {
			r, err := ledger.Verify(cmd.Context(), s, head)
			if err != nil {
				return err
			}
			err = cli.Print(cmd, r, func(w io.Writer) error { printReport(w, r); return nil })
			if err == nil && !r.OK {
				return hint.Exit(cli.ExitFailed)
			}
			return err
		})
	})
	addLedgerFlag(cmd, &at)
	cmd.Flags().StringVar(&head, "head", "", "hash of a head noted earlier, which must be among the entries")
	cli.JSONFlag(cmd)
	return cmd
}

func printReport(w io.Writer, r *ledger.Report) {
	for _, p := range r.Problems {
		fmt.Fprintf(w, "wrong: %s\n", p)
	}
	state := "verified"
	if !r.OK {
		state = "NOT verified"
	}
	fmt.Fprintf(w, "%s: %s: %d entries, %d records, %d raw files (%d bytes) kept; %d sources by hash only.\n", r.Place, state, r.Entries, r.Rows, r.Blobs, r.Bytes, r.Missing)
	if r.Head != "" {
		fmt.Fprintf(w, "head %s\n", r.Head)
	}
}
