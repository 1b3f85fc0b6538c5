// Package cli is shared by linerate's commands: start and end, errors about wrong
// arguments, and output to terminals and programs.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
)

// Exit codes; see docs/reference/exit-codes.md.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitFindings    = 3
	ExitVerdict     = 4
	ExitInterrupted = 130
)

// again is the minimum interval of a second interrupt: timeout(1) signals both the process and its
// group.
const again = time.Second

// Run runs a command without exiting the process: it returns the exit code.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := UntilInterrupted()
	defer stop()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return conclude(root.Name(), exclusive(root.ExecuteContext(ctx)), ctx.Err() != nil, stderr)
}

// bothSet matches cobra's error for mutually exclusive flags.
var bothSet = regexp.MustCompile(`^if any flags in the group .*\[([^\]]*)\] were all set$`)

// exclusive rewords cobra's error for mutually exclusive flags.
func exclusive(err error) error {
	if err == nil {
		return nil
	}
	m := bothSet.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	return hint.Usagef("--%s exclude each other: choose one", strings.Join(strings.Fields(m[1]), " and --"))
}

// UntilInterrupted returns a context that the first interrupt cancels. The second ends the process:
// a user who interrupts again does not want to wait for the cleanup.
func UntilInterrupted() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(again, stop) })
	return ctx, stop
}

// conclude prints err and maps it to an exit code.
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

func tell(program string, err error, stderr io.Writer) {
	fmt.Fprintf(stderr, "%s: %v\n", program, err)
	if h := hint.Of(err); h != "" {
		fmt.Fprintf(stderr, "hint: %s\n", h)
	}
}

// Set by the linker in release binaries (packaging/release): the tag, the commit, and the dates of
// the newest commit and of the newest one to the catalogue.
var version, commit, date, catalogueDate string

// Build describes the build of a binary; unknown fields are "".
type Build struct {
	Version   string // the tag, else devel and the commit
	Commit    string
	Date      string // of the commit, as 2026-11-22
	Catalogue string // date of the catalogue's latest change
}

// Built returns the build of this binary.
func Built() Build {
	b := Build{version, commit, date, catalogueDate}
	if b.Version == "" {
		b.Version = "unknown"
		if info, ok := debug.ReadBuildInfo(); ok {
			b = builtHere(info)
		}
	}
	return b
}

// builtHere returns what the go command records about a build that is not a release.
func builtHere(info *debug.BuildInfo) Build {
	b := Build{Version: strings.Trim(info.Main.Version, "()")}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.Date = s.Value[:min(len("2006-01-02"), len(s.Value))]
		}
	}
	if b.Version == "devel" && b.Commit != "" {
		b.Version = "devel-" + b.Commit
	}
	return b
}

// Version returns the version of this binary.
func Version() string { return Built().Version }

// PrintJSON writes v as the JSON document of a command's --json.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// firstGarbage is the heap size, in bytes, at the first garbage collection: most commands end
// before that, and with collections from four megabytes on they spent a quarter of their time on
// them.
const firstGarbage = 64 << 20

// CollectLate delays the first garbage collection until the heap has firstGarbage; after that Go's
// own rule applies. A program must call it first; it has no effect if the environment sets GOGC or
// GOMEMLIMIT.
var CollectLate = sync.OnceFunc(func() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(firstGarbage)
	runtime.AddCleanup(new([64]byte), func(int) { // unreachable immediately: the first collection frees it
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}, 0)
})
