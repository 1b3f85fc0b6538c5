package main

import (
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/dump"
)

func newLedgerExportCmd() *cobra.Command {
	var at, out, source string
	var raw, table bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "write the whole ledger, for linerate import",
		Long: `Export writes the whole ledger as JSON lines. --raw includes the bytes of imported
files. --catalogue writes its verdicts about tunables of the catalogue instead, as the
table that ships with linerate (catalogue/evidence).`,
		Example: `  linerate ledger export --raw --out ledger.jsonl
  linerate ledger export --catalogue --source github.com/ocochard/netbenches`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if raw && table || source != "" && !table {
				return hint.Usagef("--raw is of the whole ledger, --source of --catalogue")
			}
			return ledgers.Read(cmd.Context(), at, func(s ledger.Store) error {
				return toOutput(cmd.OutOrStdout(), out, func(w io.Writer) error {
					if !table {
						return dump.All(cmd.Context(), w, s, raw)
					}
					rows, err := ledgers.Known(cmd.Context(), s)
					if err == nil {
						_, err = w.Write(evidence.Format(rows, source))
					}
					return err
				})
			})
		},
	}
	addLedgerFlag(cmd, &at)
	cmd.Flags().StringVarP(&out, "out", "o", "", "`FILE` to write (default: standard output)")
	cmd.Flags().BoolVar(&raw, "raw", false, "include the bytes of imported files")
	cmd.Flags().BoolVar(&table, "catalogue", false, "write the table of verdicts that ships with linerate")
	cmd.Flags().StringVar(&source, "source", "", "where the studies were published, for the table's head")
	return cmd
}
