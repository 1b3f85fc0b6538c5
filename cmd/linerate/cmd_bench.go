package main

import "github.com/spf13/cobra"

// newBenchCmd holds what measures the user's machine; linerate itself is measured by
// linerate-bench.
func newBenchCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure this machine: its lab's resolution, its memory bandwidth",
	}
	cmd.AddCommand(newBenchLabCmd(), newBenchMemoryCmd())
	return cmd
}
