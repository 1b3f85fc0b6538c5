package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/site"
)

func newCatalogueSiteCmd() *cobra.Command {
	var out string
	cmd := verb("catalogue site", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return writeSite(cmd, out) })
	cmd.Flags().StringVar(&out, "out", "", "write the pages into this `DIR`")
	return cmd
}

// writeSite writes the site and prints a summary.
func writeSite(cmd *cobra.Command, out string) error {
	if out == "" {
		return hint.With(hint.Usagef("no directory for the pages"), "--out DIR")
	}
	in, err := siteInput()
	if err != nil {
		return err
	}
	files, bytes := 0, 0
	err = site.Write(in, func(name string, data []byte) error {
		files, bytes = files+1, bytes+len(data)
		to := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("write the site: %w", err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return fmt.Errorf("write the site: %w", err)
		}
		return cmd.Context().Err()
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s, %s, to %s\n", show.Plural(files, "file"), show.Bytes(float64(bytes)), filepath.Join(out, "index.html"))
	return nil
}

// siteInput is all that ships with linerate and has a page.
func siteInput() (in site.Input, err error) {
	if in.Catalogue, err = catalogue.Load(); err != nil {
		return in, err
	}
	in.Built = cli.Version()
	if d := cli.Built().Date; d != "" {
		in.Built += " of " + d
	}
	rules, rerr := hosts.Rules()
	if in.Evidence, err = catalogue.Evidence(); errors.Join(err, rerr) != nil {
		return in, errors.Join(err, rerr)
	}
	in.Rules = rules.Rules()
	return in, nil
}
