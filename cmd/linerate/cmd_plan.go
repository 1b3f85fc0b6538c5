package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/appliance"
	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	forms "linerate/internal/export"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/plan"
	"linerate/internal/show"
)

// planOptions are the flags of `linerate plan`.
type planOptions struct {
	source
	role                           string
	link, rtt, states, connections string
	connectionRate                 string
	out, ledger, format            string
	include                        []string
	fleet                          planFleet
}

func newPlanCmd() *cobra.Command {
	var o planOptions
	cmd := verb("plan", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if o.fleet.hosts != "" || o.fleet.ansible != "" {
			return o.runFleet(cmd, args)
		}
		return runPlan(cmd, &o, args)
	})
	o.addFlags(cmd)
	o.fleet.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.role, "role", "", "firewall, router, web … (default: guessed)")
	f.StringVar(&o.link, "link", "", "link `RATE` to carry: 10G (default: its fastest)")
	f.StringVar(&o.rtt, "rtt", "", "longest round trip `TIME` that matters: 30ms")
	f.StringVar(&o.states, "states", "", "flows that its firewall must track, such as 5M")
	f.StringVar(&o.connections, "connections", "", "concurrent connections of its servers")
	f.StringVar(&o.connectionRate, "connection-rate", "", "`RATE` that one connection must reach")
	f.StringVar(&o.out, "out", "", "write it to `FILE`, or into a directory")
	f.StringVar(&o.ledger, "ledger", "", "evidence from this `LEDGER`")
	cli.Share(cmd, "ledger")
	f.StringSliceVar(&o.include, "include", nil, "also include `unmeasured` advice, labelled")
	f.StringVar(&o.format, "format", "", "print it as `FORM`, like plan show --format")
	cli.JSONFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("format", "json")
	return cmd
}

// mostProblems is the maximum number of unreadable lines that plan reports individually.
const mostProblems = 3

// warnProblems reports the lines that could not be read: a plan cannot take account of them.
func warnProblems(w io.Writer, all []fact.Problem) {
	for i, p := range all {
		if i == mostProblems {
			fmt.Fprintf(w, "linerate: and %s more: linerate audit has them all\n", show.Count(len(all)-i))
			return
		}
		fmt.Fprintf(w, "linerate: %s:%d: %s: what it would set is not in the plan\n", show.Clean(p.File), p.Line, show.Clean(p.Message))
	}
}

func runPlan(cmd *cobra.Command, o *planOptions, args []string) error {
	in, err := o.input(cmd, args)
	if err != nil {
		return err
	}
	p, err := plan.Make(in)
	if err != nil {
		return err
	}
	if err := checkRelease(cmd, in.Catalogue, in.Facts.OS, in.Facts.Release, "plan", false); err != nil {
		return err
	}
	warnProblems(cmd.ErrOrStderr(), in.Facts.Problems)
	if a := appliance.Of(in.Facts); a != nil && o.format == "" && slices.ContainsFunc(p.Settings, func(s plan.Step) bool { return !a.Keeps(s.Where.File) }) {
		fmt.Fprintf(cmd.ErrOrStderr(), "linerate: it is %s, where a plan's files do not last: --format %s prints the plan as it is set there\n", a.Title, a.Name)
	}
	if o.out != "" {
		if err := writePlan(cmd, p, o.out); err != nil {
			return err
		}
	}
	return printPlan(cmd, p, o.format, cli.AsJSON(cmd))
}

// printPlan prints a plan as a JSON document, in an export format, or as text.
func printPlan(cmd *cobra.Command, p plan.Plan, format string, document bool) error {
	w := cmd.OutOrStdout()
	switch {
	case document:
		doc, err := plan.Marshal(p)
		if err != nil {
			return err
		}
		_, err = w.Write(doc)
		return err
	case format != "":
		text, err := forms.Write(p, format)
		fmt.Fprint(w, text)
		return err
	}
	return p.Text(w, cli.StyleOf(w))
}

// input reads the host and everything else that a plan is based on.
func (o *planOptions) input(cmd *cobra.Command, args []string) (plan.Input, error) {
	needs, err := o.needs()
	if err != nil {
		return plan.Input{}, err
	}
	planner, err := o.planner(cmd)
	if err != nil {
		return plan.Input{}, err
	}
	f, err := o.Facts(cmd.Context(), args)
	if err != nil {
		return plan.Input{}, err
	}
	if f.Release.IsZero() && f.From.Alone {
		return plan.Input{}, hint.With(hint.Usagef("a plan needs the release that reads %s", f.From.Path), "give it: %s", hint.Option("release", "25.7"))
	}
	return planner.Input(f, o.role, "given with --role", needs)
}

// planner validates the flags that apply to any host, and reads the inputs that all plans share.
func (o *planOptions) planner(cmd *cobra.Command) (*hosts.Planner, error) {
	if err := hosts.CheckRole(o.role); err != nil {
		return nil, err
	}
	unmeasured, err := o.unmeasured()
	if err != nil {
		return nil, err
	}
	evidence, err := assemble.LedgerEvidence(cmd.Context(), o.ledger, doubting(cmd))
	if err != nil {
		return nil, err
	}
	return hosts.NewPlanner(evidence, unmeasured)
}

// unmeasured parses --include.
func (o *planOptions) unmeasured() (bool, error) {
	for _, what := range o.include {
		if what != "unmeasured" {
			return false, hint.Unknown("thing to include", what, []string{"unmeasured"})
		}
	}
	return len(o.include) > 0, nil
}

func (o *planOptions) given() map[string]string {
	return map[string]string{"link": o.link, "rtt": o.rtt, "states": o.states, "connections": o.connections, "connection_rate": o.connectionRate}
}

// needs parses the flags for the load that the host must carry.
func (o *planOptions) needs() (plan.Needs, error) {
	n, err := plan.ParseNeeds(o.given())
	if err != nil {
		err = hint.Usage(fmt.Errorf("--%w", err))
	}
	return n, err
}

// writePlan writes the document to a file, or, with its drop-in files, to a directory.
func writePlan(cmd *cobra.Command, p plan.Plan, out string) error {
	doc, err := plan.Marshal(p)
	if err != nil {
		return err
	}
	save := func(path string, text []byte) error {
		if err := writeFile(path, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", path)
		return nil
	}
	if info, err := os.Stat(out); (err != nil || !info.IsDir()) && !strings.HasSuffix(out, "/") {
		return save(out, doc)
	}
	files, err := plan.Render(p, nil)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(out, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write the plan's files: %w", err)
		}
		if err := save(path, []byte(f.Content)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return save(filepath.Join(out, "plan.json"), doc)
}

func newPlanShowCmd() *cobra.Command {
	var seal bool
	var format string
	cmd := verb("plan show", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		parse := plan.Parse
		if seal {
			parse = plan.ParseUnsealed
		}
		p, err := readPlan(args[0], cmd.InOrStdin(), parse)
		if err != nil {
			return err
		}
		return printPlan(cmd, p, format, seal || cli.AsJSON(cmd))
	})
	cmd.Flags().StringVar(&format, "format", "", "write it as `FORM`: "+strings.Join(forms.Names(), ", "))
	cmd.Flags().BoolVar(&seal, "seal", false, "check a plan with a missing or wrong digest, and print it with a new one")
	cli.JSONFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("seal", "format", "json")
	return cmd
}
