package main

import (
	"github.com/spf13/cobra"
)

func newFleetCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "audit many hosts every night, and record the changes",
		Long: `A sweep audits all hosts of a fleet and records in the ledger what changed since
the last one: new and resolved findings, unreachable hosts, drifted settings. The
first audit of a host is its baseline, without alerts. Hosts are identified by
machine-id or hostuuid, not by name.

    linerate fleet sweep --hosts hosts.txt
    linerate fleet changes --since 24h
    linerate fleet status LR-LOWERS-DEFAULT`,
	}
	cmd.AddCommand(newFleetSweepCmd(), newFleetStatusCmd(), newFleetChangesCmd(), newFleetForgetCmd(), newFleetWaveCmd())
	return cmd
}
