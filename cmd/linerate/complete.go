package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/role"
	"linerate/schemas"
	"linerate/studies"
)

// argCompletions are what a shell offers as a command's argument.
var argCompletions = map[string]cobra.CompletionFunc{
	"study show":   completeStudies,
	"study run":    completeStudies,
	"study resume": directories,
	"report":       directories,
	"schema": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return schemas.Names(), cobra.ShellCompDirectiveNoFileComp
	},
	"explain":   completeTunables,
	"catalogue": completeTunables,
	"lab check": cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
}

// flagCompletions are what a shell offers as the value of a flag of any command.
var flagCompletions = map[string]cobra.CompletionFunc{
	"role": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(role.Names())
	},
	"os":      cobra.FixedCompletions([]string{fact.FreeBSD, fact.Linux}, cobra.ShellCompDirectiveNoFileComp),
	"tunable": completeTunables,
	"root":    directories,
}

// directories leaves it to the shell to offer the directories there are.
var directories = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)

// completed gives cmd and its children what their words can be chosen from.
func completed(cmd *cobra.Command) {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	if offer := argCompletions[path]; offer != nil {
		cmd.ValidArgsFunction = onlyFirst(offer)
	}
	for name, offer := range flagCompletions {
		_ = cmd.RegisterFlagCompletionFunc(name, offer) // fails for a flag that cmd has not
	}
	for _, c := range cmd.Commands() {
		completed(c)
	}
}

// onlyFirst offers nothing behind the first argument, where most commands take
// one and the others files.
func onlyFirst(offer cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return words(nil)
		}
		return offer(cmd, args, begun)
	}
}

// words are all there is to choose from: no file will do.
func words(choices []string) ([]string, cobra.ShellCompDirective) {
	return choices, cobra.ShellCompDirectiveNoFileComp
}

// completeStudies offers the built-in studies, and a file where none begins so.
func completeStudies(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return beginning(begun, studies.Names()), cobra.ShellCompDirectiveDefault
}

func beginning(begun string, names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, begun) })
}

// completeTunables offers names up to their next dot or slash, as sysctl(8)'s
// completion does: a list of thousands is no help.
func completeTunables(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	c, err := catalogue.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	os := ""
	if f := cmd.Flags().Lookup("os"); f != nil {
		os = f.Value.String()
	}
	names := beginning(begun, c.Names(os))
	directive := cobra.ShellCompDirectiveNoFileComp
	for i, n := range names {
		if at := strings.IndexAny(n[len(begun):], "./"); at >= 0 {
			names[i] = n[:len(begun)+at+1]
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	slices.Sort(names)
	return slices.Compact(names), directive
}
