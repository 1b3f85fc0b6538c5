// Command linerate replaces tuning folklore with evidence, for FreeBSD and
// Linux: it inspects and audits hosts against a catalogue of tunables, and
// proves settings in a lab with real packets.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"linerate/internal/hint"
)

// Exit codes, as docs/reference/exit-codes.md promises them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitFindings    = 3
	exitVerdict     = 4
	exitInterrupted = 130
)

// again is when an interrupt is a second one: timeout(1) sends its own twice,
// to the process and to its group.
const again = time.Second

// exitWith ends the command with a code and no message: what was to be said
// has been said on stdout.
type exitWith int

func (e exitWith) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := untilInterrupted()
	defer stop()
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return conclude(root.ExecuteContext(ctx), ctx.Err() != nil, stderr)
}

// untilInterrupted ends with the first interrupt. The second ends the process:
// whoever interrupts again does not want to wait for what the first time began.
func untilInterrupted() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(again, stop) })
	return ctx, stop
}

// conclude prints err for its reader and maps it to an exit code.
func conclude(err error, interrupted bool, stderr io.Writer) int {
	var code exitWith
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case interrupted || errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "linerate: interrupted")
		if left := hint.LeftOf(err); left != nil {
			tell(left, stderr)
		}
		return exitInterrupted
	}
	tell(err, stderr)
	if hint.IsUsage(err) {
		return exitUsage
	}
	return exitFailed
}

// tell prints an error and what to do about it.
func tell(err error, stderr io.Writer) {
	fmt.Fprintf(stderr, "linerate: %v\n", err)
	if h := hint.Render(err, asFlag); h != "" {
		fmt.Fprintf(stderr, "hint: %s\n", h)
	}
}

// asFlag writes an option as this command takes it.
func asFlag(name, value string) string {
	if value == "" {
		return "--" + name
	}
	return "--" + name + " " + value
}
