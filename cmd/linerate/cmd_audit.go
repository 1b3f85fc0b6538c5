package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/hint"
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
	f.BoolVar(&o.each, "each", false, "audit every FILE by itself; skip what is no configuration")
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
	return auditAll(cmd, o, args)
}

func auditAll(cmd *cobra.Command, o *auditOptions, args []string) error {
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
	if o.diff || o.fixes != "" {
		do := func() error { return a.shorter(cmd.Context(), in, cmd.OutOrStdout(), cmd.ErrOrStderr()) }
		if o.fixes != "" {
			do = func() error { return a.fixes(o, in, cmd.OutOrStdout()) }
		}
		if err = do(); err == nil && floor != "" && fails(a.report, floor) {
			err = hint.Exit(cli.ExitFindings)
		}
		return err
	}
	a.report.Rename(a.Given)
	return o.end(cmd, a.report, judged{floor, show})
}
