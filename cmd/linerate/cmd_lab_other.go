//go:build !linux && !freebsd

package main

import "github.com/spf13/cobra"

func newLabCmd() *cobra.Command { return needsLinux("lab", "the namespace testbed, by hand") }
