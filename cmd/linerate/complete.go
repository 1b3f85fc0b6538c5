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

// argCompletions maps a command to the completion of its first argument.
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

// flagCompletions maps a flag, of any command, to the completion of its value.
var flagCompletions = map[string]cobra.CompletionFunc{
	"role": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(role.Names())
	},
	"os":      cobra.FixedCompletions([]string{fact.FreeBSD, fact.Linux}, cobra.ShellCompDirectiveNoFileComp),
	"tunable": completeTunables,
	"root":    directories,
}

// directories makes the shell complete directory names.
var directories = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)

// completed registers the completions of cmd and its subcommands.
func completed(cmd *cobra.Command) {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	if offer := argCompletions[path]; offer != nil {
		cmd.ValidArgsFunction = onlyFirst(offer)
	}
	for name, offer := range flagCompletions {
		_ = cmd.RegisterFlagCompletionFunc(name, offer) // fails if cmd lacks the flag
	}
	for _, c := range cmd.Commands() {
		completed(c)
	}
}

// onlyFirst completes only the first argument: most commands take one, and the others take files
// after it.
func onlyFirst(offer cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return words(nil)
		}
		return offer(cmd, args, begun)
	}
}

// words completes from a fixed list and suppresses file names.
func words(choices []string) ([]string, cobra.ShellCompDirective) {
	return choices, cobra.ShellCompDirectiveNoFileComp
}

// completeStudies completes built-in studies, and files if no study matches.
func completeStudies(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return beginning(begun, studies.Names()), cobra.ShellCompDirectiveDefault
}

func beginning(begun string, names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, begun) })
}

// completeTunables completes names up to the next dot or slash, as the completion of sysctl(8)
// does, because a list of thousands of names is no help.
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
