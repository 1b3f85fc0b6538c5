package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"linerate/internal/hint"
	"linerate/internal/show"
)

const rootLong = `linerate replaces tuning folklore with evidence, for FreeBSD and Linux.

Prove a setting with real packets on this machine:
    linerate demo`

// newRootCmd wires every verb. A new verb is one line here and one
// cmd_<verb>.go.
func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:           "linerate",
		Short:         "tuning by evidence for FreeBSD and Linux",
		Long:          rootLong,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return hint.With(hint.Usage(err), "see %s --help", cmd.CommandPath())
	})
	root.SetVersionTemplate("linerate {{.Version}}\n")
	root.AddCommand(verbs()...)
	root.AddCommand(helpers()...)
	usageArgs(root)
	return root
}

// verbs lists the commands, in the order help shows them.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newDemoCmd(),
		newStudyCmd(),
		newReportCmd(),
		newLabCmd(),
		newLogsCmd(),
		newAuditCmd(),
		newPlanCmd(),
		newCatalogueCmd(),
		newExplainCmd(),
		newCalcCmd(),
		newCaptureCmd(),
		newInspectCmd(),
		newGenerateCmd(),
		newReceiveCmd(),
		newLoadCmd(),
		newApplyCmd(),
		newConfirmCmd(),
		newRollbackCmd(),
		newStatusCmd(),
		newCompareCmd(),
		newProfileCmd(),
		newImportCmd(),
		newLedgerCmd(),
		newBenchCmd(),
		newFarEndCmd(),
	}
}

// unknownVerb refuses a first word that is no verb, naming the nearest.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	return hint.Unknown("command", args[0], known)
}

// usageArgs makes every argument error of cmd and its children a usage error.
func usageArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				if hint.Of(err) != "" {
					return hint.With(hint.Usage(err), "%s", hint.Of(err))
				}
				return hint.With(hint.Usage(err), "see %s --help", c.CommandPath())
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		usageArgs(c)
	}
}

// version is the module's version, or the commit it was built from.
func version() string {
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

// printJSON writes v as the one document of a command's --json.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// isTerminal reports whether w is a terminal that wants colour and progress.
// NO_COLOR takes the colour away, see wantsColour.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// styleOf is how pages look on w.
func styleOf(w io.Writer) show.Style {
	return show.Style{Colour: wantsColour(w), Width: widthOf(w)}
}

// widthOf is the width of a terminal, within reason; 80 of anything else.
func widthOf(w io.Writer) int {
	return min(max(columnsOf(w), 60), 100)
}

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

// newLive is a line written over on a terminal, and nothing elsewhere.
func newLive(w io.Writer) *show.Live {
	return show.NewLive(w, isTerminal(w), show.Style{Colour: wantsColour(w), Width: columnsOf(w)})
}

// wantsColour honours NO_COLOR (no-color.org) and dumb terminals.
func wantsColour(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
