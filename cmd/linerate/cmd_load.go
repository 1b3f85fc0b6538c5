package main

import "github.com/spf13/cobra"

// newLoadCmd offers load: packets, requests, mail and file operations.
func newLoadCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "offer load and measure: UDP packets, HTTP, SMTP, a file system",
	}
	cmd.AddCommand(newSendCmd(), newReceiveCmd(), newLoadHTTPCmd(), newLoadSMTPCmd(), newLoadFilesCmd())
	return cmd
}
