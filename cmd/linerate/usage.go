package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/hint"
)

// Help shows commands in the order that they are listed in, which has a
// meaning; cobra would sort them by letter.
func init() {
	cobra.EnableCommandSorting = false
	cobra.AddTemplateFunc("widthOf", widthOf)
}

// onlyHelps marks a command that does nothing itself but show its help.
const onlyHelps = "onlyHelps"

// usageTemplate is cobra's, with flags broken to the width of the page, and
// without the line of a command that wants another behind it.
func usageTemplate(cobras string) string {
	return strings.NewReplacer(
		".FlagUsages ", ".FlagUsagesWrapped (widthOf .OutOrStdout) ",
		"{{if .Runnable}}", "{{if and .Runnable (not .Annotations."+onlyHelps+")}}",
	).Replace(cobras)
}

// polite makes cmd and its children answer wrong words as linerate does:
// what is wrong, with what, and what to do.
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

// wrongArgs says what a command takes, where err is not its own words but
// cobra's count.
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

// takes is what a command's usage line has behind its name, flags left out.
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
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = strconv.Quote(a)
	}
	return strings.Join(quoted, " ")
}

// unknownVerb refuses a word that is none of cmd's commands, naming the
// nearest.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	kind := "command"
	if cmd.HasParent() {
		kind = cmd.Name() + " command"
	}
	return hint.Unknown(kind, args[0], known)
}

// newHelpCmd is cobra's help that refuses what there is no help for.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND …]",
		Short: "what a command does and takes",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := unknownVerb(about, rest); err != nil {
				return wrongArgs(about, rest, err)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// wrongFlag is the error for a flag that does not exist or whose value does
// not fit.
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
		if h := hint.Render(err, asFlag); h != "" {
			advice = h
		}
		f := invalid.GetFlag()
		err = fmt.Errorf("--%s: %s", f.Name, notA(f.Value.Type(), invalid))
	}
	return hint.With(hint.Usage(err), "%s", advice)
}

// nearestFlags lists the flags that were meant: by a slip of the keyboard, or
// a long one behind a single dash.
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
		near[i] = asFlag(n, "")
	}
	return strings.Join(near, ", ")
}

// notA says why a value does not fit a flag of a type of pflag's own, whose
// parsers speak Go; another type's error stays.
func notA(kind string, invalid *pflag.InvalidValueError) string {
	v := strconv.Quote(invalid.GetValue())
	switch kind {
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
