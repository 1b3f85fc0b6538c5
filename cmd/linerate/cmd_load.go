package main

import "github.com/spf13/cobra"

// newLoadCmd offers load: packets and requests.
func newLoadCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "offer load and measure: UDP packets, HTTP requests",
	}
	cmd.AddCommand(newSendCmd(), newReceiveCmd(), newLoadHTTPCmd())
	return cmd
}
