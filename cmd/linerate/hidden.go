package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/catalogue"
	"linerate/internal/assemble/hosts"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load/remoteload"
)

// newManualCmd writes the manual pages that packages install.
func newManualCmd() *cobra.Command {
	return verb("manual", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		b := cli.Built()
		if b.Date == "" {
			return hint.With(fmt.Errorf("this binary does not know the date of its sources"), "`make dist` builds one that does")
		}
		date, err := time.Parse(time.DateOnly, b.Date)
		if err != nil {
			return fmt.Errorf("the date of the sources: %w", err)
		}
		dir := filepath.Join(args[0], "man1")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("write the manual: %w", err)
		}
		return writeManual(cmd.Root(), dir, "linerate "+b.Version, date)
	})
}

// writeManual writes a page for each command, linerate-study-run.1 and so on. cobra/doc would
// do it, and brings a second reader of YAML, 0.4 MB of the binary.
func writeManual(c *cobra.Command, dir, source string, date time.Time) error {
	c.InitDefaultHelpCmd()
	c.InitDefaultHelpFlag()
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	var b strings.Builder
	fmt.Fprintf(&b, "%% %q \"1\" %q %q \"linerate\"\n# NAME\n%s \\- %s\n\n# SYNOPSIS\n**%s**\n\n# DESCRIPTION\n%s\n\n",
		strings.ToUpper(name), date.Format("Jan 2006"), source, name, c.Short, c.UseLine(), cmp.Or(c.Long, c.Short))
	manualFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manualFlags(&b, "OPTIONS INHERITED FROM PARENT COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		fmt.Fprintf(&b, "# EXAMPLE\n```\n%s\n```\n", c.Example)
	}
	var also []string
	if c.HasParent() {
		also = append(also, "**"+strings.ReplaceAll(c.Parent().CommandPath(), " ", "-")+"(1)**")
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		also = append(also, "**"+name+"-"+sub.Name()+"(1)**")
		if err := writeManual(sub, dir, source, date); err != nil {
			return err
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, "# SEE ALSO\n%s\n", strings.Join(also, ", "))
	}
	if err := os.WriteFile(filepath.Join(dir, name+".1"), md2man.Render([]byte(b.String())), 0o644); err != nil {
		return fmt.Errorf("write the manual: %w", err)
	}
	return nil
}

// manualFlags writes what a manual page says of flags.
func manualFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, "# %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value := "=" + f.DefValue
		if f.Value.Type() == "string" {
			value = fmt.Sprintf("=%q", f.DefValue)
		}
		if f.NoOptDefVal != "" {
			value = "[" + value + "]"
		}
		if f.Shorthand != "" {
			fmt.Fprintf(b, "**-%s**, ", f.Shorthand)
		}
		fmt.Fprintf(b, "**--%s**%s\n\t%s\n\n", f.Name, value, f.Usage)
	})
	b.WriteString("\n")
}

func init() { cobra.AddTemplateFunc("versionText", versionText) }

// versionText is what `linerate --version` says: of what the program is built, and
// what it knows.
func versionText() (string, error) {
	b := cli.Built()
	text := "linerate " + b.Version
	if b.Commit != "" {
		text += " (" + b.Commit + ")"
	}
	text += fmt.Sprintf("\n%s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	c, err := catalogue.Load()
	if err != nil {
		return "", err
	}
	rules, err := hosts.Rules()
	if err != nil {
		return "", err
	}
	claims := 0
	for _, s := range c.Claims {
		claims += len(s.Claims)
	}
	of := ""
	if b.Catalogue != "" {
		of = " of " + b.Catalogue
	}
	return text + fmt.Sprintf("catalogue%s: %d tunables, %d claims, %d rules", of, len(c.Records), claims, len(rules.Rules())), nil
}

// newFarEndCmd is what linerate runs of itself on the machines of a testbed.
func newFarEndCmd() *cobra.Command {
	return verb("far-end", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			if err := remoteload.RemoveProgram(args[0]); err != nil {
				return err
			}
		}
		engine, err := testbeds.EngineNamed(testbeds.AutoEngine, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return remoteload.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), engine,
			remoteload.Hello{Version: cli.Version(), OS: runtime.GOOS, Boot: bootID()})
	})
}

// bootID names this machine's boot, "" where nothing is known of it.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
