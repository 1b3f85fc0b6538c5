package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/assemble/hosts"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load/remoteload"
)

// newManualCmd returns the command that writes the manual pages for packages.
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

// writeManual writes a page for each command, linerate-study-run.1 and so on: the texts of help, set as
// they are. cobra's generator would link a Markdown renderer and a second YAML library into every binary.
func writeManual(c *cobra.Command, dir, source string, date time.Time) error {
	c.InitDefaultHelpFlag()
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	page := fmt.Sprintf(".TH %q 1 %q %q linerate\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), date.Format("Jan 2006"), source, name, unformatted(c.Short))
	var related []string
	if c.HasParent() {
		related = append(related, strings.ReplaceAll(c.Parent().CommandPath(), " ", "-")+"(1)")
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		related = append(related, name+"-"+sub.Name()+"(1)")
		if err := writeManual(sub, dir, source, date); err != nil {
			return err
		}
	}
	for _, s := range [][2]string{{"SYNOPSIS", c.UseLine()}, {"DESCRIPTION", cmp.Or(c.Long, c.Short)}, {"OPTIONS", c.LocalFlags().FlagUsagesWrapped(72)},
		{"EXAMPLES", c.Example}, {"SEE ALSO", strings.Join(related, "\n")}} {
		if text := strings.Trim(s[1], "\n"); text != "" {
			page += ".SH " + s[0] + "\n.nf\n" + unformatted(text) + "\n.fi\n"
		}
	}
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(page), 0o644); err != nil { //nolint:gosec // a manual is for all to read
		return fmt.Errorf("write the manual: %w", err)
	}
	return nil
}

// unformatted returns text as roff that prints it.
func unformatted(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)
	return text[1:]
}

func init() { cobra.AddTemplateFunc("versionText", versionText) }

// versionText is the output of --version: the build and the extent of the catalogue.
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

// newFarEndCmd returns the command that linerate runs on the machines of a testbed.
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

// bootID returns the boot ID of this machine, or "" if unknown.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
