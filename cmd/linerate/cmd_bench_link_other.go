//go:build !linux

package main

import "github.com/spf13/cobra"

func newBenchLinkCmd() *cobra.Command {
	return needsLinux("link", "how exact and how fast links with a delay are")
}
