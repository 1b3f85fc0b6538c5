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

// IsTerminal reports whether w is a terminal that wants colour and progress.
// NO_COLOR takes the colour away, see WantsColour.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// StyleOf is how pages look on w.
func StyleOf(w io.Writer) show.Style {
	return show.Style{Colour: WantsColour(w), Width: widthOf(w), Fold: IsTerminal(w)}
}

// JSONFlag lets a command print one JSON document instead of a page.
func JSONFlag(cmd *cobra.Command) { cmd.Flags().Bool("json", false, "print one JSON document") }

// AsJSON reports a command that is to print one JSON document.
func AsJSON(cmd *cobra.Command) bool {
	asked, _ := cmd.Flags().GetBool("json") // a command without the flag prints none
	return asked
}

// Answer writes a command's result: a document for programs, or a page for people.
func Answer(cmd *cobra.Command, document any, fill func(p *show.Page)) error {
	return Print(cmd, document, func(w io.Writer) error {
		p := show.NewPage(StyleOf(w))
		fill(p)
		return p.Flush(w)
	})
}

// Print is Answer with a text that is no page.
func Print(cmd *cobra.Command, document any, text func(w io.Writer) error) error {
	if AsJSON(cmd) {
		return PrintJSON(cmd.OutOrStdout(), document)
	}
	return text(cmd.OutOrStdout())
}

// widthOf is the width of a terminal, within reason; 80 of anything else.
func widthOf(w io.Writer) int { return min(max(columnsOf(w), 60), 100) }

// columnsOf is how wide a terminal really is; 80 of anything else.
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

// NewLive is a line written over on a terminal, and nothing elsewhere.
func NewLive(w io.Writer) *show.Live {
	return show.NewLive(w, IsTerminal(w), show.Style{Colour: WantsColour(w), Width: columnsOf(w)})
}

// WantsColour honours NO_COLOR (no-color.org) and dumb terminals.
func WantsColour(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// quieted is standard error of a run that shows no progress there.
type quieted struct{ io.Writer }

// Quiet reports whether w is to be spared progress.
func Quiet(w io.Writer) bool {
	_, quiet := w.(quieted)
	return quiet
}

// Talk is where a command says what it is about to do; nowhere where it is to be
// quiet.
func Talk(cmd *cobra.Command) io.Writer {
	if Quiet(cmd.ErrOrStderr()) {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}

// Root reports whether the process is the machine's root: one of a user namespace is
// somebody else outside of it.
func Root() bool {
	if os.Geteuid() != 0 {
		return false
	}
	uids, err := os.ReadFile("/proc/self/uid_map") // of Linux alone
	f := strings.Fields(string(uids))
	return err != nil || len(f) == 3 && f[1] == "0" && f[2] == "4294967295"
}

// Confirm asks a yes-or-no question on the terminal; anything but a yes is a no. Without a
// terminal it returns an error: a command that changes hosts never takes silence for
// consent.
func Confirm(cmd *cobra.Command, question string) (bool, error) {
	in := cmd.InOrStdin()
	if file, ok := in.(*os.File); !ok || !IsTerminal(file) {
		return false, hint.With(hint.Usagef("standard input is not a terminal, so linerate cannot ask"), "add --yes to go on without asking")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	line, _ := bufio.NewReader(in).ReadString('\n')
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y"), nil
}
