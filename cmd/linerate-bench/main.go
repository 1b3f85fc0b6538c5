// Command linerate-bench measures linerate itself, beside its peers: its
// statistics, searches, traffic, loads and the net below apply. It is for those who
// develop linerate, or doubt it.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cli.CollectLate()
	return cli.Run(newRootCmd(), args, stdin, stdout, stderr)
}

const rootLong = `Measure linerate itself, beside whichever of its peers are installed. Each bench
prints a table whose ratios come from one interleaved run.

What a user's machine and lab can tell apart: linerate bench lab, linerate bench memory.`

// newRootCmd wires every bench. A new one is a line in benches and one
// cmd_<bench>.go.
func newRootCmd() *cobra.Command {
	return cli.NewRoot(&cobra.Command{Use: "linerate-bench", Short: "measure linerate itself, beside its peers", Long: rootLong}, benches(), newClientCmd(), newQueueWorkerCmd())
}

// benches lists the commands as help shows them.
func benches() []cli.Group {
	return []cli.Group{
		{Title: "What linerate concludes", Verbs: []*cobra.Command{newStatsCmd(), newProveCmd(), newSearchCmd(), newServersCmd(), newTuneCmd()}},
		{Title: "What is left when it is killed", Verbs: []*cobra.Command{newApplyCmd(), newQueueCmd()}},
		{Title: "How fast it is", Verbs: []*cobra.Command{newTrafficCmd(), newHTTPCmd(), newSMTPCmd(), newFilesCmd(), newLinkCmd(), newLogsCmd(), newImportCmd(), newServeCmd(), newFleetCmd()}},
	}
}
