//go:build !linux && !freebsd

package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

func newSendCmd() *cobra.Command {
	return cli.NotHere("send", "send UDP traffic through a network interface")
}

func newReceiveCmd() *cobra.Command {
	return cli.NotHere("receive", "receive and count that traffic at a network interface")
}

func newFarEndCmd() *cobra.Command {
	c := cli.NotHere("far-end", "generate and receive for a linerate elsewhere")
	c.Hidden = true
	return c
}
