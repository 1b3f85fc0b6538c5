package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// IsTerminal reports whether w is a terminal, and so gets progress and colour, unless NO_COLOR is
// set; see WantsColour.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// StyleOf returns the style of pages on w.
func StyleOf(w io.Writer) show.Style {
	return show.Style{Colour: WantsColour(w), Width: widthOf(w), Fold: IsTerminal(w)}
}

// JSONFlag adds --json, with which a command prints one JSON document instead of a page.
func JSONFlag(cmd *cobra.Command) { cmd.Flags().Bool("json", false, "print one JSON document") }

// AsJSON reports whether a command prints one JSON document.
func AsJSON(cmd *cobra.Command) bool {
	asked, _ := cmd.Flags().GetBool("json") // false without the flag
	return asked
}

// Answer prints a command's result: a JSON document, or a page.
func Answer(cmd *cobra.Command, document any, fill func(p *show.Page)) error {
	return Print(cmd, document, func(w io.Writer) error {
		p := show.NewPage(StyleOf(w))
		fill(p)
		return p.Flush(w)
	})
}

// Print is Answer with any text instead of a page.
func Print(cmd *cobra.Command, document any, text func(w io.Writer) error) error {
	if AsJSON(cmd) {
		return PrintJSON(cmd.OutOrStdout(), document)
	}
	return text(cmd.OutOrStdout())
}

// widthOf returns the width of a terminal, limited to 60 to 100; 80 for anything else.
func widthOf(w io.Writer) int { return min(max(columnsOf(w), 60), 100) }

// columnsOf returns the actual width of a terminal; 80 for anything else.
func columnsOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return show.DefaultWidth
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return show.DefaultWidth
	}
	return n
}

// NewLive returns an overwritten line on a terminal, and nothing elsewhere.
func NewLive(w io.Writer) *show.Live {
	return show.NewLive(w, IsTerminal(w), show.Style{Colour: WantsColour(w), Width: columnsOf(w)})
}

// WantsColour respects NO_COLOR (no-color.org) and dumb terminals.
func WantsColour(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// quieted is the standard error of a run that shows no progress.
type quieted struct{ io.Writer }

// Quiet reports whether no progress should be written to w.
func Quiet(w io.Writer) bool {
	_, quiet := w.(quieted)
	return quiet
}

// Talk returns the writer for messages about what a command does next; it discards them if the
// command is quiet.
func Talk(cmd *cobra.Command) io.Writer {
	if Quiet(cmd.ErrOrStderr()) {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}

// Root reports whether the process is the machine's root: root of a user namespace is another user
// outside it.
func Root() bool {
	if os.Geteuid() != 0 {
		return false
	}
	uids, err := os.ReadFile("/proc/self/uid_map") // Linux only
	f := strings.Fields(string(uids))
	return err != nil || len(f) == 3 && f[1] == "0" && f[2] == "4294967295"
}

// Confirm asks a yes-or-no question on the terminal; anything but yes means no. Without a terminal
// it returns an error: a command that changes hosts never treats silence as consent.
func Confirm(cmd *cobra.Command, question string) (bool, error) {
	in := cmd.InOrStdin()
	if file, ok := in.(*os.File); !ok || !IsTerminal(file) {
		return false, hint.With(hint.Usagef("standard input is not a terminal, so linerate cannot ask"), "add --yes to continue without asking")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	line, _ := bufio.NewReader(in).ReadString('\n')
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y"), nil
}
