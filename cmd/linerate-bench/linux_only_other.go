//go:build !linux

package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

func newApplyCmd() *cobra.Command {
	return cli.NotHere("apply", "faults at every step of apply, confirm and rollback: does the net hold?")
}

func newLinkCmd() *cobra.Command {
	return cli.NotHere("link", "how exact and how fast links with a delay are")
}

func newTrafficCmd() *cobra.Command {
	return cli.NotHere("traffic", "traffic engines and their peers over a veth")
}
