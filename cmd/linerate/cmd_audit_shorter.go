package main

import (
	"context"
	"fmt"
	"io"

	"linerate/internal/appliance"
	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	forms "linerate/internal/export"
	"linerate/internal/fact/redact"
	"linerate/internal/plan"
)

// shorter prints what the fixes take out of the files.
// An appliance's configuration is more than lines: nothing is taken out of it.
func (a *audited) shorter(ctx context.Context, in audit.Input, out, talk io.Writer) error {
	fixes, err := plan.Fixes(a.facts, in.Catalogue, a.run)
	if err != nil {
		return err
	}
	files := hosts.Shorten(ctx, a.Reader, fixes)
	if p := appliance.Of(a.facts); p != nil && len(files) == 0 {
		fmt.Fprintf(talk, "nothing is taken out: the configuration of %s is changed there (%s)\n", p.Title, p.Tunables)
	}
	for _, f := range files {
		seen, _ := redact.Text(redact.KindOf(f.Path, ""), f.Old)
		if _, err := io.WriteString(out, plan.Unified(a.name(f.Path), f.Old, seen, f.Cuts)); err != nil {
			return err
		}
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
	p, err := plan.Fixes(a.facts, in.Catalogue, a.run)
	if err != nil {
		return err
	}
	p.Rename(a.name)
	text, err := forms.Write(p, o.fixes)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}
