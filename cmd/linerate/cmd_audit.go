package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/appliance"
	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/cli"
	forms "linerate/internal/export"
	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/hint"
	"linerate/internal/plan"
)

func newAuditCmd() *cobra.Command {
	var o auditOptions
	cmd := verb("audit", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error { return runAudit(cmd, &o, args) })
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.role, "role", "", "firewall, router, web … (default: guessed)")
	f.StringVar(&o.suppress, "suppress", "", "`FILE` of findings to hide, with reason and expiry")
	f.StringVar(&o.failOn, "fail-on", "", "exit 3 from this on: error, warning, info; also if unreadable")
	f.StringVar(&o.show, "show", "info", "lowest severity to show: error, warning, info")
	cli.JSONFlag(cmd)
	f.BoolVar(&o.asSARIF, "sarif", false, "print one SARIF 2.1.0 log")
	f.BoolVar(&o.each, "each", false, "audit every FILE separately; skip what is not a configuration")
	f.StringVar(&o.changed, "changed", "", "only findings on lines that differ from this git `BASE`")
	f.StringVar(&o.accept, "accept", "", "write all findings to `FILE`, for --suppress")
	f.BoolVar(&o.diff, "diff", false, "print the lines that the fixes remove, redacted")
	f.StringVar(&o.fixes, "fixes", "", "write the fixes as `FORM`, like plan show --format")
	cmd.MarkFlagsMutuallyExclusive("json", "sarif", "diff", "fixes")
	return cmd
}

func runAudit(cmd *cobra.Command, o *auditOptions, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	floor, err := parseSeverity("--fail-on", o.failOn)
	if err != nil {
		return err
	}
	show, err := parseSeverity("--show", o.show)
	if err != nil {
		return err
	}
	in, err := auditInput(o)
	if err != nil {
		return err
	}
	o.Owned = !cli.AsJSON(cmd) && !o.asSARIF && o.accept == "" && o.fixes == "" && !o.diff && cli.IsTerminal(cmd.OutOrStdout())
	o.each = o.each || o.Root == "" && (o.changed != "" || o.declared(args) || len(args) > 1 && hosts.IsRemote(args[0]))
	if err := o.check(); err != nil {
		return err
	}
	if err := o.checkShorter(args); err != nil {
		return err
	}
	if o.each {
		return auditEach(cmd, o, in, args, judged{floor, show})
	}
	a, err := auditOne(cmd, o, in, args)
	if err != nil {
		return err
	}
	defer a.Close()
	switch {
	case o.diff:
		err = a.shorter(cmd.Context(), in, cmd.OutOrStdout(), cmd.ErrOrStderr())
	case o.fixes != "":
		err = a.fixes(o, in, cmd.OutOrStdout())
	default:
		a.report.Rename(a.Given)
		return o.end(cmd, a.report, judged{floor, show})
	}
	return cmp.Or(err, exitOn(a.report, floor))
}

// auditOptions are the flags of `linerate audit`.
type auditOptions struct {
	source
	role     string
	suppress string
	failOn   string
	show     string
	asSARIF  bool
	each     bool
	changed  string
	accept   string
	diff     bool
	fixes    string
}

// exitOn returns the error that sets the exit code if the report has a finding of severity floor or
// above, or if the configuration was not read in full. It returns nil if floor is empty.
func exitOn(r *audit.Report, floor audit.Severity) error {
	if floor != "" && (r.Count(floor) > 0 || r.Blind()) {
		return hint.Exit(cli.ExitFindings)
	}
	return nil
}

// auditInput loads the input that audits of all hosts share.
func auditInput(o *auditOptions) (audit.Input, error) {
	in, err := hosts.Input()
	if err = errors.Join(err, hosts.CheckRole(o.role)); err != nil {
		return in, err
	}
	if o.suppress != "" {
		text, err := readFile(o.suppress)
		if err != nil {
			return in, hint.With(fmt.Errorf("suppressions: %w", err), "--suppress wants a YAML file; linerate help auditing shows one")
		}
		if in.Suppressions, err = audit.ParseSuppressions(text); err != nil {
			return in, fmt.Errorf("%s: %w", o.suppress, err)
		}
	}
	return in, nil
}

// giveRole sets the given role, or guesses it from the facts.
func giveRole(in *audit.Input, given string) error {
	return hosts.GiveRole(in, given, "given with --role")
}

// judged holds the severity from which findings fail the command, and that from which they are shown.
type judged struct{ floor, show audit.Severity }

// check rejects contradictory flags.
func (o *auditOptions) check() error {
	switch {
	case o.accept != "" && o.failOn != "":
		return hint.Usagef("--accept covers all findings: omit --fail-on, and use the file later with --suppress")
	case (o.accept != "" || o.each) && (o.diff || o.fixes != ""):
		return hint.Usagef("--diff and --fixes need a whole host: omit --accept and --each, and name one host")
	case o.changed != "" && (o.Root != "" || o.accept != ""):
		return hint.Usagef("--changed works on files in a repository: omit --root and --accept")
	case o.each && o.Root != "":
		return hint.Usagef("--each takes files: omit --root")
	}
	return nil
}

// end writes the report as suppressions if --accept is given, else prints it; it sets the exit code.
func (o *auditOptions) end(cmd *cobra.Command, r *audit.Report, by judged) error {
	if o.accept != "" {
		text, err := r.Accept("known on " + time.Now().Format(time.DateOnly))
		if err != nil {
			return err
		}
		if err := writeFile(o.accept, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	if err := o.print(cmd, r, by.show); err != nil {
		return err
	}
	return exitOn(r, by.floor)
}

func (o *auditOptions) print(cmd *cobra.Command, r *audit.Report, show audit.Severity) error {
	if o.asSARIF {
		return cli.PrintJSON(cmd.OutOrStdout(), audit.ToSARIF(cli.Version(), hosts.SARIFHost(r, "", o.Root)))
	}
	return cli.Print(cmd, r, func(w io.Writer) error { return r.Write(w, audit.Style{Style: cli.StyleOf(w), Floor: show}) })
}

// audited is the result of one audit with its inputs.
type audited struct {
	*hosts.Opened
	facts  *fact.Facts
	report *audit.Report
	run    plan.Judge
}

// auditOne audits the host or the files in named. The caller closes the result.
func auditOne(cmd *cobra.Command, o *auditOptions, in audit.Input, named []string) (a *audited, err error) {
	opened, err := o.Open(cmd.Context(), named)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			opened.Close()
		}
	}()
	a = &audited{Opened: opened}
	if a.facts, err = a.Facts(cmd.Context()); err != nil {
		return nil, err
	}
	in.Facts = a.facts
	if in.Named == nil {
		in.Named = func(file string) string { return cmp.Or(a.Given[file], file) }
	}
	if err = giveRole(&in, o.role); err != nil {
		return nil, err
	}
	a.run = plan.By(in) // the role stays that guessed from the unchanged files
	a.report, err = a.run(a.facts)
	return a, err
}

// checkShorter rejects unknown values of --fixes, and --diff if there are no files to change.
func (o *auditOptions) checkShorter(named []string) error {
	switch {
	case o.fixes != "" && !slices.Contains(forms.Names(), o.fixes):
		return hint.Unknown("form of fixes", o.fixes, forms.Names())
	case !o.diff:
		return nil
	case len(named) > 0 && hosts.IsRemote(named[0]):
		return hint.With(hint.Usagef("--diff needs the files themselves, not a host over SSH"), "copy its etc/ here and name it with --root")
	case len(named) == 1 && o.Root == "" && !hosts.AreFiles(named):
		return hint.With(hint.Usagef("--diff needs the files themselves; %s is a capture, which omits parts of them", named[0]), "copy the host's etc/ here and name it with --root")
	}
	return nil
}

// shorter prints the diff of removing from the files the lines that the fixes remove. It skips an
// appliance, whose configuration is not made of lines.
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
		cuts, byHand := plan.Shown(f.Old, seen, f.Cuts)
		for _, c := range byHand {
			fmt.Fprintf(talk, "by hand: remove line %d of %s, which sets %s; a diff would show what may not be shown\n", c.Line, a.name(f.Path), c.Name)
		}
		if _, err := io.WriteString(out, plan.Unified(a.name(f.Path), f.Old, seen, cuts)); err != nil {
			return err
		}
	}
	return nil
}

// name returns the name by which the user gave a file, or its path on the host.
func (a *audited) name(path string) string {
	if given := a.Given[path]; given != "" && given != hosts.Stdin {
		return given
	}
	return path
}

// fixes prints the settings and removals of the findings' fixes, in one of the forms of a plan.
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
