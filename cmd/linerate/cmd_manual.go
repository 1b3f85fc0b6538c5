package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/manual"
)

// newManualCmd writes the manual pages that packages install.
func newManualCmd() *cobra.Command {
	return &cobra.Command{
		Use: "manual DIR", Short: "write the manual pages below a directory", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b := cli.Built()
			if b.Date == "" {
				return hint.With(fmt.Errorf("this binary does not know the date of its sources"), "`make dist` builds one that does")
			}
			for _, p := range manual.All(cmd.Root(), manual.Of{Version: b.Version, Date: b.Date}) {
				to := filepath.Join(args[0], filepath.FromSlash(p.File()))
				if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
					return fmt.Errorf("write the manual: %w", err)
				}
				if err := os.WriteFile(to, []byte(p.Source), 0o644); err != nil {
					return fmt.Errorf("write the manual: %w", err)
				}
			}
			return nil
		},
	}
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
