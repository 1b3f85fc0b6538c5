package main

import "github.com/spf13/cobra"

// newLoadCmd holds the workloads on real servers.
func newLoadCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "offer work to a real server and account for it",
	}
	cmd.AddCommand(newLoadHTTPCmd(), newLoadSMTPCmd(), newLoadFilesCmd())
	return cmd
}
