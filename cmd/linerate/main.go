// Command linerate replaces tuning folklore with evidence, for FreeBSD and
// Linux: it inspects and audits hosts against a catalogue of tunables, and
// proves settings in a lab with real packets.
package main

import (
	"io"
	"os"

	"linerate/internal/cli"
	"linerate/internal/hint"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(newRootCmd(), args, stdin, stdout, stderr)
}

// What commands share, by the names that it has here.
var (
	printJSON = cli.PrintJSON
	styleOf   = cli.StyleOf
	newLive   = cli.NewLive
)

// exitWith ends the command with a code and no message.
type exitWith = hint.Exit

const (
	exitOK       = cli.ExitOK
	exitFailed   = cli.ExitFailed
	exitUsage    = cli.ExitUsage
	exitFindings = cli.ExitFindings
	exitVerdict  = cli.ExitVerdict
)
