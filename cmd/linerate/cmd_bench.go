package main

import "github.com/spf13/cobra"

// newBenchCmd holds the benchmarks: each prints a table whose ratios come
// from one interleaved run, beside whichever peers are installed.
func newBenchCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure linerate itself, beside its peers",
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
		newBenchServersCmd(),
	}
}
