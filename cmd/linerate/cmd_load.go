package main

import "github.com/spf13/cobra"

// newLoadCmd offers load: packets.
func newLoadCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "offer load and measure: UDP packets",
	}
	cmd.AddCommand(newSendCmd(), newReceiveCmd())
	return cmd
}
