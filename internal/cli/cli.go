// Package cli is what commands of linerate share: how they begin and end, what
// they say of wrong words, and how they write to terminals and to programs.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
)

// Exit codes, as docs/reference/exit-codes.md promises them.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitFindings    = 3
	ExitVerdict     = 4
	ExitInterrupted = 130
)

// again is when an interrupt is a second one: timeout(1) sends its own twice,
// to the process and to its group.
const again = time.Second

// Run runs a command without the process: it returns the exit code.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := UntilInterrupted()
	defer stop()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return conclude(root.Name(), root.ExecuteContext(ctx), ctx.Err() != nil, stderr)
}

// UntilInterrupted ends with the first interrupt. The second ends the process:
// whoever interrupts again does not want to wait for what the first time began.
func UntilInterrupted() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(again, stop) })
	return ctx, stop
}

// conclude prints err for its reader and maps it to an exit code.
func conclude(program string, err error, interrupted bool, stderr io.Writer) int {
	var code hint.Exit
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &code):
		return int(code)
	case interrupted || errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", program)
		if left := hint.LeftOf(err); left != nil {
			tell(program, left, stderr)
		}
		return ExitInterrupted
	}
	tell(program, err, stderr)
	if hint.IsUsage(err) {
		return ExitUsage
	}
	return ExitFailed
}

// tell prints an error and what to do about it.
func tell(program string, err error, stderr io.Writer) {
	fmt.Fprintf(stderr, "%s: %v\n", program, err)
	if h := hint.Render(err, AsFlag); h != "" {
		fmt.Fprintf(stderr, "hint: %s\n", h)
	}
}

// AsFlag writes an option as commands take it.
func AsFlag(name, value string) string {
	if value == "" {
		return "--" + name
	}
	return "--" + name + " " + value
}

// Version is the module's version, or the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v == "(devel)" {
			v = "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return strings.Trim(v, "()")
}

// PrintJSON writes v as the one document of a command's --json.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
