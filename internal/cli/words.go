package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// pathOf is a command's path at the beginning of its heading.
var pathOf = regexp.MustCompile(`^[a-z-]+( [a-z]+)*`)

// Verbs makes commands whose words are in a text: a heading of a command's path and arguments,
// what it does in a line, its description and its examples. A command that does not run shows
// those below it.
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
