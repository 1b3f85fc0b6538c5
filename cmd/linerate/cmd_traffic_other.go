//go:build !linux && !freebsd

package main

import "github.com/spf13/cobra"

func newGenerateCmd() *cobra.Command {
	return notHere("generate", "offer UDP traffic through a network interface")
}

func newReceiveCmd() *cobra.Command {
	return notHere("receive", "account for the traffic that arrives at a network interface")
}

func newFarEndCmd() *cobra.Command {
	c := notHere("far-end", "generate and receive for a linerate elsewhere")
	c.Hidden = true
	return c
}
