package main

import (
	"github.com/spf13/cobra"
)

func newLedgerCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "query, verify and export measurements",
		Long: `The ledger keeps studies, trials, verdicts and their raw data, append-only and
chained by hashes. It can be rebuilt from the studies' directories. Its place is
--ledger, else LINERATE_LEDGER, else your state directory
(~/.local/state/linerate/ledger.db).`,
	}
	cmd.AddCommand(newLedgerQueryCmd(), newLedgerShowCmd(), newLedgerVerifyCmd(), newLedgerExportCmd(),
		newLedgerImportCmd(), newLedgerRebuildCmd(), newLedgerExcludeCmd())
	return cmd
}
