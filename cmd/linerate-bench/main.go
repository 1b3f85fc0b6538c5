// Command linerate-bench checks the changes that linerate offers, on generated hosts. It is for
// developers and doubters of linerate; other benches run by go test -bench in the packages under bench.
package main

import (
	_ "embed"
	"io"
	"os"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without os.Exit: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cli.CollectLate()
	return cli.Run(newRootCmd(), args, stdin, stdout, stderr)
}

//go:embed help.txt
var helpText string

// verb makes a bench command with its texts from help.txt.
var verb = cli.Verbs(helpText)

// newRootCmd returns the root command. A new bench needs a section in help.txt, a line in benches
// and a file cmd_<bench>.go.
func newRootCmd() *cobra.Command {
	return cli.NewRoot(&cobra.Command{Use: "linerate-bench", Short: "measure linerate itself", Long: "Measure linerate itself: what it changes. Each bench prints one JSON document."}, benches())
}

// benches lists the commands in the order of the help.
func benches() []cli.Group {
	return []cli.Group{
		{Title: "What linerate changes", Verbs: []*cobra.Command{newChangesCmd()}},
	}
}
