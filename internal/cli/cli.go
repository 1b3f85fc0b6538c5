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
	return conclude(root.Name(), exclusive(root.ExecuteContext(ctx)), ctx.Err() != nil, stderr)
}

// bothSet is how cobra refuses flags that exclude each other.
var bothSet = regexp.MustCompile(`^if any flags in the group .*\[([^\]]*)\] were all set$`)

// exclusive says so in words.
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

// UntilInterrupted ends with the first interrupt. The second ends the process:
// a user who interrupts again does not want to wait for what the first time began.
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
	if h := hint.Of(err); h != "" {
		fmt.Fprintf(stderr, "hint: %s\n", h)
	}
}

// What the linker writes into a release's binaries (cmd/linerate-dist): the tag, the
// commit, and the dates of the newest commit and of the newest to the catalogue.
var version, commit, date, catalogueDate string

// Build says of what a binary was built; what is not known is "".
type Build struct {
	Version   string // the tag, else devel and the commit
	Commit    string
	Date      string // of the commit, as 2026-11-22
	Catalogue string // the date of the catalogue's newest change
}

// Built is what this binary was built of.
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

// builtHere is what the go command notes of a build that is no release.
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

// Version is the version of this binary.
func Version() string { return Built().Version }

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

// firstGarbage is how much memory a command has, in bytes, when garbage is collected for the
// first time: most are over before, and spent a quarter of their time on collections from
// four megabytes on.
const firstGarbage = 64 << 20

// CollectLate puts the first collection of garbage off until the process has firstGarbage;
// from then on Go's own rule holds. It is a program's first deed, and leaves it alone
// where the environment has its own wishes (GOGC, GOMEMLIMIT).
var CollectLate = sync.OnceFunc(func() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(firstGarbage)
	runtime.AddCleanup(new([64]byte), func(int) { // unreachable at once: the first collection frees it
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}, 0)
})

// UntilStopped computes until that is done or ctx is: pure work knows no
// interruption, and ends with the program then. What it computes may be looked
// at only when there is no error.
func UntilStopped(ctx context.Context, compute func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		compute()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
