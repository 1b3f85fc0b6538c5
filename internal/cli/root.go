package cli

import (
	"cmp"

	"github.com/spf13/cobra"
)

// brief is the group of commands that the main help page only names.
const brief = "Also"

// A Group is a list of commands for one purpose, in the order of use. Without a title only their
// names are listed.
type Group struct {
	Title string
	Verbs []*cobra.Command
}

// NewRoot sets up root with groups of verbs in linerate's style; hidden verbs are internal.
func NewRoot(root *cobra.Command, groups []Group, hidden ...*cobra.Command) *cobra.Command {
	root.Version, root.SilenceErrors, root.SilenceUsage = Version(), true, true
	root.SetFlagErrorFunc(wrongFlag)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetHelpTemplate(helpTemplate)
	root.PersistentFlags().BoolP("quiet", "q", false, "no progress on standard error")
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if quiet, _ := cmd.Flags().GetBool("quiet"); quiet {
			root.SetErr(quieted{root.ErrOrStderr()})
		}
	}
	root.SetVersionTemplate(root.Name() + " {{.Version}}\n")
	for _, g := range groups {
		id := cmp.Or(g.Title, brief)
		root.AddGroup(&cobra.Group{ID: id, Title: id + ":"})
		for _, verb := range g.Verbs {
			verb.GroupID = id
			root.AddCommand(verb)
		}
	}
	root.SetHelpCommand(newHelpCmd())
	root.CompletionOptions.HiddenDefaultCmd = true // packages install its scripts
	if root.ContainsGroup(brief) {
		root.SetHelpCommandGroupID(brief)
	}
	root.AddCommand(hidden...)
	polite(root)
	return root
}
