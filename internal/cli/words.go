package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// pathOf matches the path of a command at the beginning of its heading.
var pathOf = regexp.MustCompile(`^[a-z-]+( [a-z]+)*`)

// Verbs returns a constructor of commands with texts from a document: a heading with a command's
// path and arguments, a one-line summary, a description and examples. A command without run shows
// its subcommands.
func Verbs(text string) func(path string, args cobra.PositionalArgs, run func(cmd *cobra.Command, args []string) error, below ...*cobra.Command) *cobra.Command {
	sections := map[string]string{}
	for _, s := range strings.Split("\n"+text, "\n# ")[1:] {
		sections[pathOf.FindString(s)] = s
	}
	return func(path string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error, below ...*cobra.Command) *cobra.Command {
		heading, text, found := strings.Cut(sections[path], "\n")
		if !found {
			panic("there are no words of the command " + path)
		}
		short, text, _ := strings.Cut(text, "\n")
		long, example, _ := strings.Cut(text, "\nExamples:\n")
		cmd := &cobra.Command{
			Use: heading[strings.LastIndex(path, " ")+1:], Short: short, Long: strings.TrimSpace(long), Example: strings.TrimRight(example, "\n"),
			Args: args, RunE: run,
		}
		cmd.AddCommand(below...)
		return cmd
	}
}
