package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/plan"
	"linerate/internal/show"
)

// applied is the output of apply --json; see docs/reference/apply.md.
type applied struct {
	Version int           `json:"version"`
	Outcome apply.Outcome `json:"outcome"`
	Digest  string        `json:"digest"`
	Where   string        `json:"where"`
	Journal string        `json:"journal,omitempty"` // for a dry run
	Error   string        `json:"error,omitempty"`
}

type applyFlags struct {
	target
	within  time.Duration
	checks  []string
	chosen, // confirm-within was given
	yes, dryRun, noWait, reboot bool
	waves waveFlags
}

// newApplyCmd returns the command that applies a plan to a host.
func newApplyCmd() *cobra.Command {
	var f applyFlags
	cmd := verb("apply", cobra.MaximumNArgs(2), func(cmd *cobra.Command, args []string) error {
		f.chosen = cmd.Flags().Changed("confirm-within")
		if f.waves.wanted(cmd, args) {
			return f.runWaves(cmd, args)
		}
		if len(args) == 0 {
			return hint.With(hint.Usagef("no plan is given"), "linerate plan --out FILE makes one")
		}
		return f.run(cmd, args[0], args[1:])
	})
	f.addFlags(cmd)
	cmd.Flags().DurationVar(&f.within, "confirm-within", 5*time.Minute, "revert unless confirmed in")
	cmd.Flags().StringArrayVar(&f.checks, "check", nil, "`CHECK` first and last: HOST:PORT, URL, command")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "check and show, change nothing")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "exit as soon as it can be confirmed")
	cmd.Flags().BoolVar(&f.reboot, "reboot", false, "reboot to apply boot-time settings too")
	cli.JSONFlag(cmd)
	f.waves.addFlags(cmd)
	return cmd
}

func (f *applyFlags) run(cmd *cobra.Command, file string, args []string) error {
	p, err := readPlan(file, cmd.InOrStdin(), plan.Parse)
	if err != nil {
		return err
	}
	m, conn, err := f.reach(args)
	if err != nil {
		return err
	}
	defer conn.Close()
	checks, err := parseChecks(f.checks, args)
	if err != nil {
		return err
	}
	report := applied{Version: 1, Digest: p.Digest, Where: m.Where()}
	if f.dryRun {
		m = apply.DryRun(m, func(t apply.Transaction) { report.Journal = string(t.Journal()) })
	}
	talk := cmd.ErrOrStderr()
	report.Outcome, err = apply.Run(cmd.Context(), m, p, apply.Options{
		Within: f.within, Chosen: f.chosen, Trial: f.reboot, Wait: !f.noWait && !f.reboot, Checks: append(f.fresh(args), checks...), Harms: f.Harms(args...),
		Line: f.Line(m.Where()),
		Ask:  func(t apply.Transaction) (bool, error) { return f.ask(cmd, t) },
		Say:  func(format string, a ...any) { fmt.Fprintf(talk, format+"\n", a...) },
	})
	if cli.AsJSON(cmd) {
		if err != nil {
			report.Error = err.Error()
		}
		return errors.Join(cli.PrintJSON(cmd.OutOrStdout(), report), err)
	}
	if err != nil {
		return err
	}
	if f.dryRun {
		fmt.Fprint(cmd.OutOrStdout(), report.Journal)
		return nil
	}
	fmt.Fprintln(cmd.OutOrStdout(), outcomeText(report, f))
	return nil
}

func outcomeText(r applied, f *applyFlags) string {
	switch r.Outcome {
	case apply.Pending:
		return fmt.Sprintf("pending on %s. To keep it, run within %s:\n  %s", r.Where, f.within, f.Line(r.Where)("confirm"))
	case apply.Nothing:
		return "the plan has nothing to do"
	case apply.Declined:
		return "nothing was changed"
	}
	return fmt.Sprintf("%s on %s", r.Outcome, r.Where)
}

// ask shows the change and asks for permission to apply it.
func (f *applyFlags) ask(cmd *cobra.Command, t apply.Transaction) (bool, error) {
	w := cmd.ErrOrStderr()
	if err := writeChange(w, t); err != nil {
		return false, err
	}
	if f.yes || f.dryRun {
		return true, nil
	}
	return cli.Confirm(cmd, "Apply this?")
}

// writeChange lists the settings and files of a plan for the user who must agree to it.
func writeChange(w io.Writer, t apply.Transaction) error {
	p, page := t.Plan, show.NewPage(cli.StyleOf(w))
	page.Line(fmt.Sprintf("plan %s, role %s, %s %s: %s", p.Short(), show.Clean(p.Role), p.OS, show.Clean(p.Release), show.Plural(len(p.Settings), "setting")))
	for _, s := range p.Settings {
		was := "not set"
		if s.Current.Value != nil {
			was = *s.Current.Value
		}
		page.Paragraph("  ", "    ", show.Clean(fmt.Sprintf("%s: %s → %s (%s)", s.Title(), was, s.Value, s.Where)))
		if s.Reason != "" {
			page.Paragraph("      ", "      ", show.Clean(s.Reason))
		}
		if s.Risk != "" && s.Risk != "none" {
			page.Paragraph("      risk: ", "      ", show.Clean(s.Risk))
		}
	}
	for _, file := range t.Files {
		page.Line("  writes " + file.Path)
	}
	return page.Flush(w)
}

// readPlan reads a plan from a file, or from standard input if the name is "-".
func readPlan(name string, stdin io.Reader, parse func([]byte) (plan.Plan, error)) (plan.Plan, error) {
	doc, err := readInput(stdin, name, plan.MaxDocument)
	if err != nil {
		return plan.Plan{}, hint.With(fmt.Errorf("read the plan: %w", err), "linerate plan --out FILE makes one")
	}
	p, err := parse(doc)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// waveFlags are the flags of apply for several hosts.
type waveFlags struct {
	measure                            measureFlags
	steps, skip, resume, ledger, limit string
	parallel, tries                    int
	soak, timeout                      time.Duration
}

// waveOnly lists the flags that have no meaning for a single host.
var waveOnly = []string{"measure", "limit", "waves", "max-skipped", "resume", "ledger", "parallel", "soak"}

func (w *waveFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	addLimit(cmd, &w.limit)
	f.StringVar(&w.steps, "waves", "1,5%,100%", "hosts after each wave")
	f.IntVar(&w.parallel, "parallel", 50, "hosts to change at a time")
	f.DurationVar(&w.soak, "soak", 0, "wait, check again, then confirm")
	f.DurationVar(&w.timeout, "check-timeout", checkTimeout, "time limit of one check")
	f.IntVar(&w.tries, "check-tries", 4, "attempts of each check")
	f.StringVar(&w.skip, "max-skipped", "10%", "stop if a wave skips more")
	f.StringVar(&w.resume, "resume", "", "continue this wave `ID`, or the last one")
	f.Lookup("resume").NoOptDefVal = "last"
	addLedgerFlag(cmd, &w.ledger)
	w.measure.addFlags(cmd)
}

// wanted reports whether the command addresses several hosts.
func (w *waveFlags) wanted(cmd *cobra.Command, args []string) bool {
	if slices.ContainsFunc(waveOnly, cmd.Flags().Changed) {
		return true
	}
	if len(args) == 0 {
		return false
	}
	info, err := os.Stat(args[0])
	return err == nil && info.IsDir()
}
