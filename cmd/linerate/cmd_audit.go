package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/hint"
	"linerate/internal/role"
)

// auditOptions are the flags of `linerate audit`.
type auditOptions struct {
	source
	role     string
	suppress string
	failOn   string
	show     string
	hosts    string
	asJSON   bool
	asSARIF  bool
}

func newAuditCmd() *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit " + sourceUse + " …",
		Short: "say what is wrong, useless or missing in a host's tuning",
		Long: `Audit holds every line of a host's configuration against the catalogue, and the
host against the rules for its role: what is gone, misplaced, equal to the
default, worse than it, harmful here, at odds with something else, and what the
kernel's counters say. It needs no privileges and changes nothing.

` + sourceHelp,
		Example: `    linerate audit --root /backup/fw1 --release 14.3 --role firewall
    linerate audit bundle.tar.gz --fail-on warning
    linerate audit ssh://root@fw1
    linerate audit ssh://fw1 ssh://fw2 --role firewall
    linerate audit --hosts fleet.txt --json
    linerate audit --sarif > audit.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error { return runAudit(cmd, &o, args) },
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.role, "role", "", "what the host is for (default: guessed): "+strings.Join(role.Names(), ", "))
	f.StringVar(&o.suppress, "suppress", "", "`FILE` of findings to hide, with reason and expiry")
	f.StringVar(&o.failOn, "fail-on", "", "exit with 3 when a finding is at least this bad: error, warning or info")
	f.StringVar(&o.show, "show", "info", "show findings at least this bad, as text: error, warning or info")
	f.StringVar(&o.hosts, "hosts", "", "audit the hosts that `FILE` names, one ssh://[user@]host[:port] a line")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON document")
	f.BoolVar(&o.asSARIF, "sarif", false, "print one SARIF 2.1.0 log")
	return cmd
}

func runAudit(cmd *cobra.Command, o *auditOptions, args []string) error {
	if o.asJSON && o.asSARIF {
		return hint.Usagef("--json and --sarif are two documents: choose one")
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
	named, err := sources(args, o.hosts)
	if err != nil {
		return err
	}
	if len(named) > 1 && o.asSARIF {
		return hint.With(hint.Usagef("--sarif is of one host, %d are named", len(named)), "use --json, or one audit for each host")
	}
	if len(named) > 1 {
		return auditMany(cmd, o, in, named, floor)
	}
	if in.Facts, err = o.facts(cmd.Context(), named); err != nil {
		return err
	}
	if err := giveRole(&in, o.role); err != nil {
		return err
	}
	report, err := audit.Run(in)
	if err != nil {
		return err
	}
	if err := o.print(cmd.OutOrStdout(), report, show); err != nil {
		return err
	}
	if floor != "" && report.Count(floor) > 0 {
		return exitWith(exitFindings)
	}
	return nil
}

// auditInput loads what audits of any host need.
func auditInput(o *auditOptions) (audit.Input, error) {
	in := audit.Input{Today: time.Now()}
	var err error
	if o.role != "" {
		if err := role.Check(o.role); err != nil {
			return in, err
		}
	}
	if o.suppress != "" {
		text, err := readFile(o.suppress)
		if err != nil {
			return in, hint.With(fmt.Errorf("suppressions: %w", err), "--suppress wants a YAML file; see docs/guide/audit.md")
		}
		if in.Suppressions, err = audit.ParseSuppressions(text); err != nil {
			return in, fmt.Errorf("%s: %w", o.suppress, err)
		}
	}
	if in.Catalogue, err = catalogue.Load(); err != nil {
		return in, fmt.Errorf("catalogue: %w", err)
	}
	if in.Rules, err = loadRules(); err != nil {
		return in, fmt.Errorf("rules: %w", err)
	}
	return in, nil
}

// loadRules takes the rules that are packed with the catalogue, else reads
// their files.
func loadRules() (*audit.RuleSet, error) {
	if set, ok := audit.UnpackRules(catalogue.PackedRules()); ok {
		return set, nil
	}
	return audit.LoadRules(catalogue.Files())
}

// giveRole takes the caller's role, or guesses it from the facts.
func giveRole(in *audit.Input, given string) error {
	if given != "" {
		in.Role, in.RoleReasons = given, []string{"given with --role"}
		return nil
	}
	g, err := role.Of(in.Facts)
	if err != nil {
		return err
	}
	in.Role, in.RoleReasons = g.Role, g.Reasons
	return nil
}

func (o *auditOptions) print(w io.Writer, r *audit.Report, show audit.Severity) error {
	switch {
	case o.asJSON:
		return printJSON(w, r)
	case o.asSARIF:
		return printJSON(w, audit.ToSARIF(r, version()))
	}
	return r.Write(w, audit.Style{Style: styleOf(w), Floor: show})
}

// parseSeverity reads a flag's severity; "" stays "".
func parseSeverity(flag, text string) (audit.Severity, error) {
	if text == "" {
		return "", nil
	}
	var known []string
	for _, s := range audit.Severities() {
		if string(s) == text {
			return s, nil
		}
		known = append(known, string(s))
	}
	return "", hint.Unknown("severity for "+flag, text, known)
}
