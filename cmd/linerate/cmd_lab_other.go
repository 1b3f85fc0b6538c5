//go:build !linux && !freebsd

package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

func newLabCmd() *cobra.Command {
	return cli.NotHere("lab", "build and remove the namespace testbed by hand")
}
