package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/appliance"
	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	forms "linerate/internal/export"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/planner"
	"linerate/internal/show"
)

// audited is what one audit was made of.
type audited struct {
	*hosts.Opened
	facts  *fact.Facts
	report *audit.Report
	run    func(*fact.Facts) (*audit.Report, error)
}

// auditOne audits the host, or the files, that are named. Whoever asks closes
// the reader.
func auditOne(cmd *cobra.Command, o *auditOptions, in audit.Input, named []string) (*audited, error) {
	opened, err := o.Open(cmd.Context(), named)
	if err != nil {
		return nil, err
	}
	a := &audited{Opened: opened}
	facts, err := a.Facts(cmd.Context())
	if err != nil {
		a.Close()
		return nil, err
	}
	in.Facts, a.facts = facts, facts
	if err := o.give(&in, cmp.Or(named...)); err != nil {
		a.Close()
		return nil, err
	}
	a.run = func(f *fact.Facts) (*audit.Report, error) {
		in := in // the role stays that of the files as they are
		in.Facts = f
		return audit.Run(in)
	}
	if a.report, err = a.run(facts); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// shorter prints or writes the files without what the fixes take out of them.
// An appliance's configuration is more than lines: nothing is taken out of it.
func (a *audited) shorter(ctx context.Context, o *auditOptions, out, talk io.Writer) error {
	files, err := hosts.Shorten(ctx, a.Reader, a.Options, a.run, a.report)
	if err != nil {
		return err
	}
	if p := appliance.Of(a.facts); p != nil && len(files) == 0 {
		fmt.Fprintf(talk, "nothing is taken out: the configuration of %s is changed there (%s)\n", p.Title, p.Tunables)
	}
	lines := 0
	for _, f := range files {
		lines += len(f.Cuts)
		name := a.name(f.Path)
		if o.diff {
			if _, err := io.WriteString(out, audit.Diff(name, f.Old, f.New, f.Cuts)); err != nil {
				return err
			}
		}
		if o.write != "" {
			if err := f.WriteBelow(o.write, name); err != nil {
				return err
			}
		}
	}
	if o.write != "" && !o.diff {
		fmt.Fprintf(out, "%s written below %s, %s shorter\n", show.Plural(len(files), "file"), o.write, show.Plural(lines, "line"))
	}
	return nil
}

// name is the name by which a file was given, or its path on the host.
func (a *audited) name(path string) string {
	if given := a.Given[path]; given != "" && given != hosts.Stdin {
		return given
	}
	return path
}

// fixes prints what the findings' fixes set, and what is better gone, in a form of a
// plan's.
func (a *audited) fixes(o *auditOptions, in audit.Input, out io.Writer) error {
	a.report.Rename(a.Given)
	p, err := planner.Fixes(a.report, a.facts, in.Catalogue)
	if err != nil {
		return err
	}
	text, err := forms.Write(p, o.fixes)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// checkShorter refuses --fixes of several hosts, and --diff and --write where there are
// no files to change.
func (o *auditOptions) checkShorter(named []string) error {
	switch {
	case o.fixes != "" && (o.asJSON || o.asSARIF || o.asNagios || o.diff || o.write != ""):
		return hint.Usagef("--fixes prints a document of its own: it goes with no other form")
	case o.fixes != "" && (o.each || len(named) > 1 && !hosts.AreFiles(named)):
		return hint.Usagef("--fixes is of one host")
	case o.fixes != "" && !slices.Contains(forms.Names(), o.fixes):
		return hint.Unknown("form of fixes", o.fixes, forms.Names())
	case !o.diff && o.write == "":
		return nil
	case o.asJSON || o.asSARIF:
		return hint.Usagef("--diff and --write do not go with --json and --sarif")
	case len(named) > 0 && (len(named) > 1 && !hosts.AreFiles(named) || hosts.IsRemote(named[0])):
		return hint.With(hint.Usagef("--diff and --write want the files themselves, not a host over SSH"), "copy its etc/ here and name it with --root")
	case len(named) == 1 && o.Root == "" && !hosts.AreFiles(named):
		return hint.With(hint.Usagef("--diff and --write want the files themselves; %s is a capture, which leaves parts of them out", named[0]), "copy the host's etc/ here and name it with --root")
	}
	return nil
}
