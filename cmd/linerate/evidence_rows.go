package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
)

// newCatalogueEvidenceCmd makes the table of verdicts that ships with the
// program.
func newCatalogueEvidenceCmd() *cobra.Command {
	var place, source string
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "print a ledger's verdicts about known tunables, as the table that ships with linerate",
		Long: `evidence prints every verdict of a ledger about a tunable that the catalogue
knows, one a line: what catalogue/evidence holds of public archives.

    linerate import netbenches DIR --ledger eleven.db
    linerate catalogue evidence --ledger eleven.db --source github.com/ocochard/netbenches`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := catalogue.Load()
			if err != nil {
				return err
			}
			s, err := openLedger(cmd.Context(), place)
			if err != nil {
				return err
			}
			rows, err := ledger.Known(cmd.Context(), s, c)
			if err = errors.Join(err, s.Close()); err != nil {
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

// measuredEvidence is all that is known to have been measured: the shipped
// table, and what the user's own ledger adds to it.
func measuredEvidence(cmd *cobra.Command, place string) ([]evidence.Row, error) {
	shipped, err := catalogue.Evidence()
	if err != nil {
		return nil, err
	}
	s, err := existingLedger(cmd.Context(), place)
	if err != nil {
		if place != "" {
			return nil, err
		}
		ownUnread(cmd.ErrOrStderr(), err)
		return shipped, nil
	}
	if s == nil {
		return shipped, nil
	}
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	own, err := ledger.Known(cmd.Context(), s, c)
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return evidence.Merge(own, shipped), nil
}

func ownUnread(w io.Writer, err error) { fmt.Fprintf(w, "no evidence of your own: %v\n", err) }
