// Command linerate-bench measures linerate itself: its statistics and searches by
// simulation, its lab by measuring nothing. It is for those who develop linerate, or doubt it.
package main

import (
	_ "embed"
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

//go:embed help.txt
var helpText string

// verb makes a bench, with its words.
var verb = cli.Verbs(helpText)

// newRootCmd wires every bench. A new one is a section of help.txt, a line in benches and one
// cmd_<bench>.go.
func newRootCmd() *cobra.Command {
	return cli.NewRoot(&cobra.Command{Use: "linerate-bench", Short: "measure linerate itself", Long: "Measure linerate itself: what it concludes. Each bench prints one JSON document."}, benches())
}

// benches lists the commands as help shows them.
func benches() []cli.Group {
	return []cli.Group{
		{Title: "What linerate concludes", Verbs: []*cobra.Command{newStatsCmd(), newProveCmd(), newRolloutCmd(), newChangesCmd(), newTuneCmd()}},
	}
}
