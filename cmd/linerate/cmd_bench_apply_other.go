//go:build !linux

package main

import "github.com/spf13/cobra"

func newBenchApplyCmd() *cobra.Command {
	return needsLinux("apply", "faults at every step of apply, confirm and rollback: does the net hold?")
}
