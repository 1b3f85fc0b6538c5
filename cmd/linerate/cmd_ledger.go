package main

import (
	"github.com/spf13/cobra"
)

func newLedgerCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "query, verify and export measurements",
		Long: `The ledger keeps studies, trials, verdicts and their raw data, append-only and
chained by hashes. linerate import fills and rebuilds it. Its place is
--ledger, else LINERATE_LEDGER, else your state directory
(~/.local/state/linerate/ledger.db).`,
	}
	cmd.AddCommand(newLedgerQueryCmd(), newLedgerShowCmd(), newLedgerVerifyCmd(), newLedgerExportCmd(),
		newLedgerExcludeCmd())
	return cmd
}
