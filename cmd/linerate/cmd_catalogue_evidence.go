package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
)

// newCatalogueEvidenceCmd makes the table of verdicts that ships with the
// program.
func newCatalogueEvidenceCmd() *cobra.Command {
	var place, source string
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "print a ledger's verdicts as the table that ships with linerate",
		Long: `evidence prints a ledger's verdicts about tunables in the catalogue, one per line:
the format of catalogue/evidence.

    linerate import DIR --ledger eleven.db
    linerate catalogue evidence --ledger eleven.db --source github.com/ocochard/netbenches`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var rows []evidence.Row
			err := ledgers.With(cmd.Context(), place, func(s ledger.Store) (err error) {
				rows, err = ledgers.Known(cmd.Context(), s)
				return err
			})
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(evidence.Format(rows, source))
			return err
		},
	}
	cmd.Flags().StringVar(&place, "ledger", "", "the `LEDGER` to read")
	cmd.Flags().StringVar(&source, "source", "", "where the studies were published, for the table's head")
	return cmd
}
