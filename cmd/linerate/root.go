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
	}
	root.SetFlagErrorFunc(wrongFlag)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetVersionTemplate("linerate {{.Version}}\n")
	for _, g := range verbGroups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, verb := range g.verbs {
			verb.GroupID = g.title
			root.AddCommand(verb)
		}
	}
	root.SetHelpCommand(newHelpCmd())
	root.SetHelpCommandGroupID(aboutItself)
	root.SetCompletionCommandGroupID(aboutItself)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Short = "print what makes a shell complete commands and names"
	}
	root.AddCommand(helpers()...)
	polite(root)
	completed(root)
	return root
}

// aboutItself is the group of what is no use of linerate, but about it.
const aboutItself = "About linerate itself"

// A verbGroup is commands for one purpose, in the order in which they come up.
type verbGroup struct {
	title string
	verbs []*cobra.Command
}

// verbGroups lists the commands as help shows them.
func verbGroups() []verbGroup {
	return []verbGroup{
		{"Prove", []*cobra.Command{newDemoCmd(), newStudyCmd(), newReportCmd(), newCompareCmd(), newProfileCmd(), newLabCmd()}},
		{"Tune a host", []*cobra.Command{
			newInspectCmd(), newCaptureCmd(), newAuditCmd(), newPlanCmd(),
			newApplyCmd(), newConfirmCmd(), newRollbackCmd(), newStatusCmd(),
		}},
		{"Look up", []*cobra.Command{newExplainCmd(), newCatalogueCmd(), newCalcCmd(), newLedgerCmd(), newImportCmd()}},
		{"Load and measure", []*cobra.Command{newGenerateCmd(), newReceiveCmd(), newLoadCmd(), newLogsCmd()}},
		{aboutItself, []*cobra.Command{newBenchCmd(), newFarEndCmd()}},
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
	return show.Style{Colour: wantsColour(w), Width: widthOf(w), Fold: isTerminal(w)}
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
