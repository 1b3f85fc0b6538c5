package main

import (
	"github.com/spf13/cobra"
)

func newLabCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "lab", Short: "check a testbed of real machines; put back what a killed study left",
		Long: `Studies build and remove their labs. These commands are for what a study needs and
for what one that was killed left.`}
	cmd.AddCommand(newLabCheckCmd(), newLabSweepCmd())
	return cmd
}

func newLabSweepCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "sweep",
		Short: "put back what killed studies left",
		Long: `Restore the host settings that studies changed (--allow-host-settings) and did not put
back, because they were killed, and remove what is left of their labs. The next
study on this machine does the same.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return sweepLabs() },
	}
}
