//go:build !linux

package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

func newLabCmd() *cobra.Command {
	return cli.NotHere("lab", "the lab's resolution: A/A intervals, false alarms, planted effects")
}
