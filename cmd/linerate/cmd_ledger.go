package main

import (
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/ledger"
	"linerate/internal/stats"
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

// addFilterFlags gives a command the flags that narrow a query.
func addFilterFlags(cmd *cobra.Command, f *ledger.Filter) {
	fs := cmd.Flags()
	fs.StringVar(&f.Tunable, "tunable", "", "setting that was changed, any unit number (dev.igb.0.fc)")
	fs.StringVar(&f.Hardware, "hardware", "", "CPU or machine, a part of its name")
	fs.StringVar(&f.NIC, "nic", "", "network card, a part of its name")
	fs.StringVar(&f.Driver, "driver", "", "driver of the network card")
	fs.StringVar(&f.OS, "os", "", "operating system")
	fs.StringVar(&f.Release, "release", "", "beginning of the release")
	fs.StringVar(&f.Workload, "workload", "", "workload, a part of its description")
	fs.StringVar(&f.Study, "study", "", "study: name, part of its place, or beginning of its identifier")
	fs.StringVar(&f.Metric, "metric", "", "metric")
	fs.StringVar((*string)(&f.Verdict), "verdict", "", "one of "+strings.Join(stats.VerdictNames(), ", "))
	fs.BoolVar(&f.Primary, "primary", false, "primary metrics only")
	fs.BoolVar(&f.Superseded, "superseded", false, "also studies that a later import replaced")
}
