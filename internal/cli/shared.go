package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/show"
)

// sharedMark marks a flag that many commands have with one meaning: the page
// docs/reference/flags.md describes it, and help lists its name only.
const sharedMark = "shared"

// Share marks flags of cmd as shared.
func Share(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		_ = cmd.Flags().SetAnnotation(name, sharedMark, nil) // fails for a flag that cmd lacks
	}
}

// IsShared reports whether help lists f by its name only.
func IsShared(f *pflag.Flag) bool {
	_, marked := f.Annotations[sharedMark]
	return marked || f.Name == "json" || f.Name == "help" || f.Name == "quiet"
}

// ownFlags describes the flags that cmd does not share with others; the root
// describes all.
func ownFlags(cmd *cobra.Command) string {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = false
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && (!IsShared(f) || !cmd.HasParent()) {
			own.AddFlag(f)
		}
	})
	if !own.HasFlags() {
		return ""
	}
	return "\n\nFlags:\n" + strings.TrimRight(own.FlagUsagesWrapped(helpWidth()), "\n")
}

// sharedFlags names the shared flags that cmd takes, and where they are described.
func sharedFlags(cmd *cobra.Command) string {
	if !cmd.HasParent() || cmd.HasSubCommands() && cmd.Annotations[onlyHelps] != "" {
		return ""
	}
	var names []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && IsShared(f) && f.Name != "help" {
			names = append(names, "--"+f.Name)
		}
	})
	if len(names) == 0 {
		return ""
	}
	p := show.NewPage(show.Style{Width: helpWidth()})
	p.Paragraph("Shared flags: ", "  ", strings.Join(names, " ")+` (see "`+cmd.Root().Name()+` help flags")`)
	return "\n\n" + strings.TrimRight(p.String(), "\n")
}
