package main

import "github.com/spf13/cobra"

// newBenchCmd holds the benchmarks: each prints a table whose ratios come
// from one interleaved run, beside whichever peers are installed.
func newBenchCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure linerate itself, beside its peers",
		// For those who doubt linerate, not for those who tune a host.
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(benches()...)
	return cmd
}

// benches lists the benchmarks.
func benches() []*cobra.Command {
	return []*cobra.Command{
		newBenchTrafficCmd(),
		newBenchImportCmd(),
		newBenchLogsCmd(),
		newBenchHTTPCmd(),
		newBenchFilesCmd(),
		newBenchSMTPCmd(),
		newBenchLinkCmd(),
		newBenchMemoryCmd(),
		newBenchStatsCmd(),
		newBenchSearchCmd(),
		newBenchApplyCmd(),
		newBenchLabCmd(),
	}
}
