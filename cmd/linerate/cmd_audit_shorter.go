package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/inspect"
	"linerate/internal/show"
)

// audited is what one audit was made of.
type audited struct {
	reader host.Reader
	opts   inspect.Options
	// given are the names of files that were audited by themselves, by their
	// places on a host.
	given  map[string]string
	report *audit.Report
	run    func(*fact.Facts) (*audit.Report, error)
}

// auditOne audits the host, or the files, that are named. Whoever asks closes
// the reader.
func auditOne(cmd *cobra.Command, o *auditOptions, in audit.Input, named []string) (*audited, error) {
	a := &audited{}
	var err error
	if hosts.AreFiles(named) && o.Root == "" {
		if a.opts, err = o.Options(); err != nil {
			return nil, err
		}
		a.reader, a.given, err = o.Files(named, cmd.InOrStdin())
	} else {
		a.reader, a.opts, err = o.Open(cmd.Context(), named)
	}
	if err != nil {
		return nil, err
	}
	facts, err := hosts.Inspect(cmd.Context(), a.reader, a.opts)
	if err != nil {
		a.reader.Close()
		return nil, err
	}
	in.Facts = facts
	if err := giveRole(&in, o.role); err != nil {
		a.reader.Close()
		return nil, err
	}
	a.run = func(f *fact.Facts) (*audit.Report, error) {
		in := in // the role stays that of the files as they are
		in.Facts = f
		return audit.Run(in)
	}
	if a.report, err = a.run(facts); err != nil {
		a.reader.Close()
		return nil, err
	}
	return a, nil
}

// shorter prints or writes the files without what the fixes take out of them.
func (a *audited) shorter(ctx context.Context, o *auditOptions, out io.Writer) error {
	files, err := hosts.Shorten(ctx, a.reader, a.opts, a.run, a.report)
	if err != nil {
		return err
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
	if given := a.given[path]; given != "" && given != hosts.Stdin {
		return given
	}
	return path
}

// checkShorter refuses --diff and --write where there are no files to change.
func (o *auditOptions) checkShorter(named []string) error {
	switch {
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
