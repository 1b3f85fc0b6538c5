package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/docs"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/show"
)

// Help lists commands in their defined order; cobra would sort them alphabetically.
func init() {
	cobra.EnableCommandSorting = false
	cobra.AddTemplateFunc("helpWidth", helpWidth)
	cobra.AddTemplateFunc("commandList", commandList)
	cobra.AddTemplateFunc("reflowed", reflowed)
	cobra.AddTemplateFunc("ownFlags", ownFlags)
	cobra.AddTemplateFunc("sharedFlags", sharedFlags)
}

// helpWidth returns the width of help, that of standard output. Cobra renders usage into a buffer,
// which has no width.
func helpWidth() int { return widthOf(os.Stdout) }

// onlyHelps marks a command that does nothing but show its help.
const onlyHelps = "onlyHelps"

// usageTemplate returns cobra's template, with commands and flags wrapped to the width of the page,
// without the usage line of commands that only have subcommands, and with only the names of shared
// flags.
func usageTemplate(cobras string) string {
	commands := strings.Index(cobras, "{{if .HasAvailableSubCommands}}{{$cmds")
	return strings.Replace(cobras[:commands], "{{if .Runnable}}", "{{if and .Runnable (not .Annotations."+onlyHelps+")}}", 1) +
		"{{commandList .}}{{ownFlags .}}{{sharedFlags .}}" +
		"{{if and .HasAvailableSubCommands .HasParent}}\n\nUse \"{{.CommandPath}} COMMAND --help\" for more.{{end}}\n" + topicsLine
}

// topicsLine ends the root command's help.
const topicsLine = `{{if not .HasParent}}
More: {{.CommandPath}} help COMMAND, help commands, help topics.
{{end}}`

// helpTemplate is cobra's with the description wrapped to the width of the page.
const helpTemplate = `{{reflowed .}}

{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

// commandList lists the subcommands of a command by group; for a brief group only names.
func commandList(c *cobra.Command) string {
	p := show.NewPage(show.Style{Width: helpWidth()})
	group := func(id, title string) {
		cmds := list.Filter(c.Commands(), func(s *cobra.Command) bool {
			return s.GroupID == id && (s.IsAvailableCommand() || s.Name() == "help")
		})
		if len(cmds) == 0 {
			return
		}
		p.Line("")
		if id == brief {
			p.Paragraph(title+" ", "  ", strings.Join(list.Map(cmds, (*cobra.Command).Name), ", "))
			return
		}
		p.Line(title)
		for _, s := range cmds {
			first := fmt.Sprintf("  %-*s ", s.NamePadding(), s.Name())
			p.Paragraph(first, strings.Repeat(" ", len(first)), s.Short)
		}
	}
	for _, g := range c.Groups() {
		group(g.ID, g.Title)
	}
	group("", "Commands:")
	if text := strings.TrimRight(p.String(), "\n"); text != "" {
		return "\n" + text
	}
	return ""
}

// allCommands lists every command of a program.
func allCommands(root *cobra.Command) string {
	var t show.Table
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, s := range c.Commands() {
			if s.IsAvailableCommand() {
				t.Add(strings.TrimPrefix(s.CommandPath(), root.Name()+" "), s.Short)
				walk(s)
			}
		}
	}
	walk(root)
	p := show.NewPage(show.Style{Width: helpWidth()})
	p.Table(t)
	return p.String()
}

// reflowed returns a command's description, with paragraphs wrapped that are wider than the page.
// Indented text, lists and examples are unchanged.
func reflowed(c *cobra.Command) string {
	width := helpWidth()
	p := show.NewPage(show.Style{Width: width})
	for i, paragraph := range strings.Split(strings.TrimSpace(cmp.Or(c.Long, c.Short)), "\n\n") {
		if i > 0 {
			p.Line("")
		}
		lines := strings.Split(paragraph, "\n")
		setIn := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, " ") })
		if setIn || !slices.ContainsFunc(lines, func(l string) bool { return show.Width(l) > width }) {
			p.Line(paragraph)
			continue
		}
		p.Paragraph("", "", strings.Join(lines, " "))
	}
	return strings.TrimRight(p.String(), "\n")
}

// polite makes cmd and its subcommands report wrong arguments in linerate's style: what is wrong,
// where, and what to do.
func polite(cmd *cobra.Command) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.DisableFlagsInUseLine = true
		cmd.Annotations = map[string]string{onlyHelps: "yes"}
		cmd.Args = unknownVerb
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error { return wrongArgs(c, args, check(c, args)) }
	}
	for _, c := range cmd.Commands() {
		polite(c)
	}
}

// wrongArgs says what arguments a command takes, if err is cobra's count of arguments.
func wrongArgs(c *cobra.Command, args []string, err error) error {
	if err == nil {
		return nil
	}
	advice := hint.Of(err)
	if advice == "" {
		advice = seeHelp(c)
		if !hint.IsUsage(err) {
			err = fmt.Errorf("%s takes %s, and was given %s", strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "), takes(c), given(args))
		}
	}
	return hint.With(hint.Usage(err), "%s", advice)
}

func seeHelp(c *cobra.Command) string { return "see " + c.CommandPath() + " --help" }

// takes returns the arguments in a command's usage line, without flags.
func takes(c *cobra.Command) string {
	_, words, _ := strings.Cut(c.Use, " ")
	words, _, _ = strings.Cut(words, "--")
	if words = strings.TrimSpace(words); words == "" {
		return "no arguments"
	}
	return words
}

func given(args []string) string {
	switch {
	case len(args) == 0:
		return "nothing"
	case len(args) > 4:
		return strconv.Itoa(len(args)) + " arguments"
	}
	return strings.Join(list.Map(args, strconv.Quote), " ")
}

// unknownVerb returns an error for an unknown subcommand of cmd, naming the nearest.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	known := list.Map(cmd.Commands(), (*cobra.Command).Name)
	kind := "command"
	if cmd.HasParent() {
		kind = cmd.Name() + " command"
	} else {
		for _, t := range docs.Topics() {
			known = append(known, t.Name)
		}
	}
	return hint.Unknown(kind, args[0], known)
}

// newHelpCmd returns cobra's help command extended by topics; it returns an error for unknown ones.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND … | TOPIC | commands | topics]",
		Short: "show help for a command, or a page of the reference",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "commands" {
				fmt.Fprint(cmd.OutOrStdout(), allCommands(cmd.Root()))
				return nil
			}
			if len(args) == 1 {
				if t, ok := docs.Find(args[0]); ok || args[0] == "topics" {
					return helpTopic(cmd.OutOrStdout(), t)
				}
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := unknownVerb(about, rest); err != nil {
				return wrongArgs(about, rest, err)
			}
			about.InitDefaultHelpFlag()
			if err := about.Help(); err != nil {
				return err
			}
			if t, ok := docs.About(about.Name()); ok && about.HasParent() && !about.Parent().HasParent() {
				fmt.Fprintf(cmd.OutOrStdout(), "\nReference: linerate help %s\n", t.Name)
			}
			return nil
		},
	}
}

// helpTopic prints a topic's page, or lists all topics if there is none.
func helpTopic(w io.Writer, t docs.Topic) error {
	p := show.NewPage(StyleOf(w))
	if t.Name != "" {
		p.Markdown(t.Text())
		return p.Flush(w)
	}
	var table show.Table
	for _, t := range docs.Topics() {
		table.Add(t.Name, t.Title())
	}
	p.Line("help TOPIC shows one of these pages:")
	p.Line("")
	p.Table(table)
	return p.Flush(w)
}

// wrongFlag returns the error for an unknown flag or an invalid value of a flag.
func wrongFlag(cmd *cobra.Command, err error) error {
	advice := seeHelp(cmd)
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		if near := nearestFlags(cmd, unknown); near != "" {
			advice = "did you mean " + near + "?"
		}
	case errors.As(err, &invalid):
		if h := hint.Of(err); h != "" {
			advice = h
		}
		f := invalid.GetFlag()
		err = fmt.Errorf("--%s: %s", f.Name, notA(f.Value.Type(), invalid))
	}
	return hint.With(hint.Usage(err), "%s", advice)
}

// nearestFlags lists the flags that may be meant: a typo, or a long flag after a single dash.
func nearestFlags(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		if len(short) < 3 {
			return ""
		}
		name = short
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	near := hint.Nearest(name, known, 3)
	for i, n := range near {
		near[i] = hint.Option(n, "")
	}
	return strings.Join(near, ", ")
}

// notA says why a value is invalid for one of pflag's own types, whose parsers print Go errors;
// errors of other types are unchanged.
func notA(kind string, invalid *pflag.InvalidValueError) string {
	v := strconv.Quote(invalid.GetValue())
	switch kind {
	case "func":
		return invalid.Unwrap().Error()
	case "bool":
		return v + " is neither true nor false"
	case "int", "int64", "intSlice":
		return v + " is not a whole number"
	case "uint", "uint16", "uint64":
		return v + " is not a whole number of 0 or more, or too large"
	case "float64":
		return v + " is not a number"
	case "duration", "durationSlice":
		return v + " is not a duration, such as 30s or 5m"
	}
	return v + ": " + invalid.Unwrap().Error()
}

// sharedMark marks a flag that has the same meaning for many commands: docs/reference/flags.md
// describes it, and help lists only its name.
const sharedMark = "shared"

// Share marks flags of cmd as shared.
func Share(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		_ = cmd.Flags().SetAnnotation(name, sharedMark, nil) // fails for a flag that cmd lacks
	}
}

// IsShared reports whether help lists only the flag's name.
func IsShared(f *pflag.Flag) bool {
	_, marked := f.Annotations[sharedMark]
	return marked || f.Name == "json" || f.Name == "help" || f.Name == "quiet"
}

// ownFlags describes the flags that cmd does not share with others; for the root it describes all.
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

// sharedFlags names the shared flags of cmd, and where they are described.
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
