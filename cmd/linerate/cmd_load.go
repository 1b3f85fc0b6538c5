package main

import "github.com/spf13/cobra"

// newLoadCmd holds the workloads on real servers.
func newLoadCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "offer work to a real server and account for it",
		Args:  unknownVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLoadHTTPCmd(), newLoadSMTPCmd(), newLoadFilesCmd())
	return cmd
}
