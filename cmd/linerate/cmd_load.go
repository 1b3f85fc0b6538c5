package main

import "github.com/spf13/cobra"

// newLoadCmd holds the workloads on real servers.
func newLoadCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "load a real server over HTTP or SMTP, or a file system",
	}
	cmd.AddCommand(newLoadHTTPCmd(), newLoadSMTPCmd(), newLoadFilesCmd())
	return cmd
}
