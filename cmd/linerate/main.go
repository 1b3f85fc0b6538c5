// Command linerate replaces tuning folklore with evidence, for FreeBSD and
// Linux: it inspects and audits hosts against a catalogue of tunables, and
// proves settings in a lab with real packets.
package main

import (
	"io"
	"os"

	"linerate/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cli.CollectLate()
	return cli.Run(newRootCmd(), args, stdin, stdout, stderr)
}
