package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/site"
	"linerate/internal/tunable"
)

// listOptions are the flags of catalogue.
type listOptions struct {
	os, release string
}

func newCatalogueCmd() *cobra.Command {
	var o listOptions
	cmd := verb("catalogue", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error { return runCatalogueList(cmd, o, args) })
	cmd.Flags().StringVar(&o.os, "os", "", "freebsd or linux (default both)")
	cmd.Flags().StringVar(&o.release, "release", "", "release, such as 14.3 (default the newest known)")
	cli.JSONFlag(cmd)
	return cmd
}

// listDocument is the output of catalogue --json.
type listDocument struct {
	Version int             `json:"version"`
	OS      string          `json:"os,omitempty"`
	Release string          `json:"release,omitempty"`
	Entries []tunable.Entry `json:"entries"`
}

func runCatalogueList(cmd *cobra.Command, o listOptions, args []string) error {
	rel, err := releaseFlag(o.release)
	if err != nil {
		return err
	}
	if o.os != "" && o.os != tunable.FreeBSD && o.os != tunable.Linux {
		return hint.Unknown("operating system", o.os, []string{tunable.FreeBSD, tunable.Linux})
	}
	if o.os == "" && !rel.IsZero() {
		o.os = osOfRelease(rel)
	}
	c, err := catalogue.Load()
	if err != nil {
		return err
	}
	if err := checkRelease(cmd, c, o.os, rel, "list", true); err != nil {
		return err
	}
	entries := c.List(o.os, rel)
	if entries, err = filterEntries(c, o.os, rel, entries, strings.Join(args, " ")); err != nil {
		return err
	}
	return cli.Print(cmd, listDocument{1, o.os, o.release, entries}, func(w io.Writer) error { return printEntries(w, o.os, entries) })
}

// filterEntries keeps the entries whose name contains text, or else those that a search for its
// words finds. Finding none is an error: a misspelt name must not look like one of no importance.
func filterEntries(c *tunable.Catalogue, os string, rel release.Release, entries []tunable.Entry, text string) ([]tunable.Entry, error) {
	if text == "" {
		return entries, nil
	}
	kept := list.Filter(entries, func(e tunable.Entry) bool { return strings.Contains(e.Name, text) })
	if len(kept) > 0 {
		return kept, nil
	}
	for _, m := range c.Search(os, text, 0) {
		kept = append(kept, m.Record.Entry(rel))
	}
	if len(kept) > 0 {
		return kept, nil
	}
	r, err := c.Find(os, text)
	if err != nil {
		return nil, err
	}
	return []tunable.Entry{r.Entry(rel)}, nil
}

// printEntries prints a table of entries, with a column for the system if os is empty.
func printEntries(w io.Writer, os string, entries []tunable.Entry) error {
	t := show.Table{Header: []string{"NAME", "SET", "TYPE", "DEFAULT"}}
	if os == "" {
		t.Header = append([]string{"OS"}, t.Header...)
	}
	for _, e := range entries {
		d := e.Default
		switch {
		case !e.Exists && e.RenamedTo != "":
			d = "not there; now " + e.RenamedTo
		case !e.Exists:
			d = "not there"
		case e.DefaultIsFormula:
			d = "(computed)"
		}
		cells := []string{e.Name, string(e.Settable), string(e.Type), d}
		if os == "" {
			cells = append([]string{e.OS}, cells...)
		}
		t.Add(cells...)
	}
	return t.Write(w, cli.StyleOf(w))
}

func releaseFlag(s string) (release.Release, error) {
	if s == "" {
		return release.Release{}, nil
	}
	r, err := release.ParseGiven(s)
	if err != nil {
		return r, hint.With(hint.Usage(err), "such as 14.3, or 14.3-RELEASE-p2")
	}
	return r, nil
}

// osOfRelease returns the system by major release: FreeBSD's start at 11 in the catalogue, Linux
// has not reached that.
func osOfRelease(r release.Release) string {
	if r.Major >= 11 {
		return tunable.FreeBSD
	}
	return tunable.Linux
}

// checkRelease says of a release newer than the catalogue's that the output is the newest known one's. Strict, it
// returns an error for one older than those that the catalogue covers, or two majors newer.
func checkRelease(cmd *cobra.Command, c *tunable.Catalogue, os string, r release.Release, what string, strict bool) error {
	oldest, newest := c.Known(os)
	switch _, beyond := c.Beyond(os, r); {
	case strict && (!r.IsZero() && r.Before(oldest) || r.Major > newest.Major+1):
		return hint.With(hint.Usagef("the catalogue does not know release %s of %s", r, os), "it knows %s %s to %s; without --release it shows the newest", os, oldest.Short(), newest.Short())
	case beyond:
		fmt.Fprintf(cmd.ErrOrStderr(), "linerate: the catalogue knows releases of %s up to %s; this %s for %s is one for those\n", os, newest.Short(), what, r)
	}
	return nil
}

func newCatalogueSiteCmd() *cobra.Command {
	var out string
	cmd := verb("catalogue site", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return writeSite(cmd, out) })
	cmd.Flags().StringVar(&out, "out", "", "write the pages into this `DIR`")
	return cmd
}

// writeSite writes the static site and prints a summary.
func writeSite(cmd *cobra.Command, out string) error {
	if out == "" {
		return hint.With(hint.Usagef("no directory for the pages given"), "--out DIR")
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

// siteInput returns all built-in records that have a page on the site.
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
