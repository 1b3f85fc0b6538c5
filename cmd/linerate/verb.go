package main

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
)

// helpText has the words of each command: a heading of its path and its arguments, what it does
// in a line, its description and its examples.
//
//go:embed help.txt
var helpText string

// pathOf is the path at the beginning of a heading.
var pathOf = regexp.MustCompile(`^[a-z-]+( [a-z]+)*`)

// sections are those of helpText by the paths of commands.
var sections = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, s := range strings.Split("\n"+helpText, "\n# ")[1:] {
		all[pathOf.FindString(s)] = s
	}
	return all
})

// common are the sentences that descriptions share.
var common = strings.NewReplacer("{bed}", assemble.Bed,
	"{source}", "SOURCE is this machine, ssh://host, a capture, --root DIR, or files of configuration\n(linerate help flags).",
	"{target}", "The host is this machine or ssh://[user@]host[:port]. Changing one needs root\n(--become sudo over SSH); nothing stays installed there.")

// verb makes the command of a path, with its words. A command without run shows those below it.
func verb(path string, args cobra.PositionalArgs, run func(cmd *cobra.Command, args []string) error, below ...*cobra.Command) *cobra.Command {
	heading, text, found := strings.Cut(sections()[path], "\n")
	if !found {
		panic("help.txt has no words of " + path)
	}
	short, text, _ := strings.Cut(text, "\n")
	long, example, _ := strings.Cut(text, "\nExamples:\n")
	cmd := &cobra.Command{
		Use: heading[strings.LastIndex(path, " ")+1:], Short: short, Long: common.Replace(strings.TrimSpace(long)), Example: strings.TrimRight(example, "\n"),
		Args: args, RunE: run,
	}
	cmd.AddCommand(below...)
	return cmd
}
