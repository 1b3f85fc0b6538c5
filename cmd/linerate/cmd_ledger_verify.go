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
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "recompute the whole chain of hashes",
		Long: `Recompute every record's digest, every link of the chain and the hash of all raw
bytes. To detect removed entries as well, note the head that it prints in another
place, and pass it with --head later. Exit code 1 if anything is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
		},
	}
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
