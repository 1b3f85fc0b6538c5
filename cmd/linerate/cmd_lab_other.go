//go:build !linux && !freebsd

package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

func newLabCmd() *cobra.Command {
	return cli.NotHere("lab", "check a testbed of real machines; put back what a killed study left")
}
