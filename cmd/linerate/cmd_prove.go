package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/live"
	"linerate/internal/plan"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

type proveFlags struct {
	target
	run     runFlags
	metrics []string
	terms   study.Terms
	window  time.Duration
	burn    time.Duration
	pilot   time.Duration
	time    time.Duration
	pairs   int
	share   percentage
	margin  percentage
	harm    percentage
	plan    string
	per     string
	made    apply.Identity // host for which the plan was made
	dryRun  bool
	yes     bool
}

// newProveCmd returns the command that studies a live host.
func newProveCmd() *cobra.Command {
	var f proveFlags
	cmd := verb("prove", cobra.ArbitraryArgs, f.do)
	f.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metrics, "metric", nil, "metric to watch; the first decides")
	flags.StringVar(&f.terms.Better, "better", "", "lower or higher, for your own values")
	flags.StringVar(&f.per, "per", "", "connection: each connection draws its arm (Linux)")
	flags.StringVar(&f.plan, "plan", "", "try all settings of a plan's `FILE`, then each")
	flags.DurationVar(&f.time, "time", 0, "how long it may take")
	flags.IntVar(&f.pairs, "pairs", 0, "pairs of windows (default: as the pilot says)")
	flags.DurationVar(&f.window, "window", 5*time.Minute, "length of a window")
	flags.DurationVar(&f.burn, "burn-in", 0, "unmeasured start of a window (default: a fifth)")
	flags.DurationVar(&f.pilot, "pilot", 0, "observe first (default: two windows, at most 10m)")
	f.harm, f.margin = 20, 3
	flags.Var(&f.harm, "harm", "end when it is worse by this much")
	flags.Var(&f.share, "max-share", "largest share of time with the setting")
	flags.StringVar(&f.terms.Service, "service", "", "process whose restart makes a window invalid")
	flags.Var(&f.margin, "margin", "difference that does not matter")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "observe and forecast, change nothing")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.StringVar(&f.run.out, "out", "", "directory of the record")
	flags.Uint64Var(&f.run.seed, "seed", 0, "seed of the order (default: drawn)")
	flags.Var(&f.run.precision, "precision", "effect to see; stop at an interval so narrow")
	cli.JSONFlag(cmd)
	addFailOn(cmd, &f.run.failOn)
	addLedgerFlag(cmd, &f.run.ledger)
	return cmd
}

func (f *proveFlags) do(cmd *cobra.Command, args []string) error {
	q, err := f.question(args)
	if err != nil {
		return err
	}
	switch f.per {
	case "":
	case "connection":
		return f.perConnection(cmd, q)
	default:
		return hint.With(hint.Usagef("--per %s: not known", f.per), "known: connection")
	}
	s, err := f.spec(cmd, q)
	if err != nil {
		return err
	}
	// Check what cannot be tried before asking the user or writing anything.
	at, err := reachLive(cmd, s, &f.Remote)
	if err != nil {
		return err
	}
	defer at.Close()
	if f.plan != "" {
		if s, err = f.fitting(cmd, at, &q); err != nil {
			return err
		}
	}
	o, err := at.Options(s, *s.Seed, at.facts)
	if err != nil {
		return err
	}
	if f.dryRun {
		return look(cmd, at, s, o)
	}
	if err := live.Check(cmd.Context(), o); err != nil {
		return err
	}
	if err := f.consent(cmd, s, q); err != nil {
		return err
	}
	return f.conduct(cmd, at, s, q)
}

// conduct runs the study and, if a plan was better, the study of which of its settings are needed.
func (f *proveFlags) conduct(cmd *cobra.Command, at *liveAt, s study.Spec, q study.Question) error {
	results, err := f.record(cmd, at, s, f.run.out)
	if err != nil {
		return err
	}
	verdict := failOnResults(f.run.failOn, results)
	if f.plan == "" || len(q.Settings) < 2 || !results.IsBetter() {
		return verdict
	}
	q.LeaveOut = true
	if s, err = f.spec(cmd, q); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "the plan is better: now each setting by leaving it out")
	out := f.run.out
	if out != "" {
		out += "-each"
	}
	each, err := f.record(cmd, at, s, out)
	if err != nil {
		return err
	}
	if !cli.AsJSON(cmd) {
		for _, line := range q.Needed(each) {
			fmt.Fprintln(cmd.OutOrStdout(), line)
		}
	}
	return cmp.Or(verdict, failOnResults("", each))
}

// record runs a study in a new directory.
func (f *proveFlags) record(cmd *cobra.Command, at *liveAt, s study.Spec, path string) (study.Results, error) {
	dir, err := studydir.CreateNew(path, s, time.Now())
	if err != nil {
		return study.Results{}, err
	}
	defer dir.Close()
	return f.run.conductLive(cmd, at, dir)
}

// question reads the arguments and the plan.
func (f *proveFlags) question(args []string) (q study.Question, err error) {
	for i, a := range args {
		s, isSetting := study.ParseSetting(a)
		switch {
		case isSetting && !hosts.IsRemote(a):
			q.Settings = append(q.Settings, s)
		case i == len(args)-1 && hosts.IsRemote(a):
			q.Host = a
		default:
			return q, hint.With(hint.Usagef("%q is not NAME=VALUE", a), "such as: linerate prove net.ipv4.tcp_slow_start_after_idle=0 ssh://www1 --metric log:/var/log/nginx/access.log")
		}
	}
	switch {
	case f.plan != "" && len(q.Settings) > 0:
		return q, hint.Usagef("--plan names the settings: leave %s out", q.Settings[0].TypedName())
	case f.plan != "":
		return q, f.planned(&q)
	case len(q.Settings) == 0:
		return q, hint.With(hint.Usagef("no setting to try"), "name it as NAME=VALUE, or a plan with --plan")
	}
	return q, nil
}

// planned takes those settings from the plan's file that can be set on a running host.
func (f *proveFlags) planned(q *study.Question) error {
	p, err := readPlan(f.plan, os.Stdin, plan.Parse)
	if err != nil {
		return err
	}
	f.made = apply.Identity{OS: p.OS, Host: p.Host}
	if q.Settings = assemble.Planned(p); len(q.Settings) == 0 {
		return hint.With(fmt.Errorf("%s does not set a sysctl of a running host", f.plan), "a study on a testbed that is out of service can try the rest: linerate study")
	}
	return nil
}

// fitting drops the settings that cannot be tried on this host, with a message for each, and
// returns the study of the rest.
func (f *proveFlags) fitting(cmd *cobra.Command, at *liveAt, q *study.Question) (study.Spec, error) {
	if host := at.facts.Hostname; f.made.OS != at.facts.OS || f.made.Host != "" && host != "" && f.made.Host != host {
		return study.Spec{}, hint.With(fmt.Errorf("%s was made for %q (%s), this is %q (%s)", f.plan, f.made.Host, f.made.OS, host, at.facts.OS), "make a plan of this host: another host's facts are not its own")
	}
	q.Settings = list.Filter(q.Settings, func(s study.Setting) bool {
		err := at.Fits(at.facts, s)
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "left out: %v\n", err)
		}
		return err == nil
	})
	if len(q.Settings) == 0 {
		return study.Spec{}, hint.With(fmt.Errorf("nothing of %s can be tried on this host while it serves", f.plan), "a study on a testbed that is out of service can: linerate study")
	}
	return f.spec(cmd, *q)
}

// flagOf maps a key of the study to the flag that sets it.
var flagOf = map[string]string{
	"window": "--window", "burn_in": "--burn-in", "pilot": "--pilot", "harm_percent": "--harm", "max_share_percent": "--max-share",
	"better": "--better", "margin_percent": "--margin", "margin_points": "--margin", "blocks": "--pairs",
}

func (f *proveFlags) spec(cmd *cobra.Command, q study.Question) (study.Spec, error) {
	if f.run.precision < 0 || f.run.precision >= 100 {
		return study.Spec{}, hint.Usagef("--precision %s is not between 0 and 100 %%", &f.run.precision)
	}
	if err := checkFailOn(f.run.failOn); err != nil {
		return study.Spec{}, err
	}
	f.terms.Watch, f.terms.MaxShare, f.terms.HarmPercent = f.metrics, float64(f.share), float64(f.harm)
	f.terms.Window, f.terms.BurnIn, f.terms.Pilot = f.window.Seconds(), f.burn.Seconds(), f.pilot.Seconds()
	q.Become = f.Become
	d := study.Design{Terms: f.terms, Pairs: f.pairs, Margin: float64(f.margin), Precision: float64(f.run.precision), Seed: f.run.seed, Names: flagOf}
	if !cmd.Flags().Changed("pairs") {
		d.Time, d.Plan = f.time, f.time == 0
	}
	if !cmd.Flags().Changed("seed") {
		d.Seed = uint64(rand.Uint32())
	}
	d.Metric = func(source string) error {
		_, err := (&live.Options{Better: stats.Direction(f.terms.Better)}).ParseMetric(source)
		return err
	}
	return q.Spec(&d)
}

// consent shows what the study will do and asks for consent.
func (f *proveFlags) consent(cmd *cobra.Command, s study.Spec, q study.Question) error {
	design := study.PlanOf(s, s.Parts[0])
	page := show.NewPage(cli.StyleOf(cmd.ErrOrStderr()))
	page.Line(s.Question)
	upTo := ""
	if s.Parts[0].Live.PlanPercent > 0 {
		upTo = "As many as the pilot shows to be needed, up to "
	}
	page.Paragraph("  ", "  ", fmt.Sprintf("%s%d pairs of windows of %s with the setting and %d shams, about %s; %s of the time with the setting. "+
		"The host reverts each window itself if this command dies. The study ends when the metric gets more than %g %% worse, or the host does not answer.",
		upTo, design.Pairs, design.Window, s.Parts[0].Blocks-design.Pairs, show.Clock(design.Duration()), show.WholePercent(100*design.Share()), f.terms.HarmPercent))
	if f.plan != "" && len(q.Settings) > 1 {
		design.Treatments = make([]string, len(q.Settings))
		page.Paragraph("  ", "  ", fmt.Sprintf("Where it is better, each of the %d settings is then left out in turn: about %s more, with all but one of them on, or all.", len(q.Settings), show.Clock(design.Duration())))
	}
	return f.agree(cmd, page, "Change this host?")
}

// agree prints page and asks the question.
func (f *proveFlags) agree(cmd *cobra.Command, page *show.Page, question string) error {
	if err := page.Flush(cmd.ErrOrStderr()); err != nil || f.yes {
		return err
	}
	yes, err := cli.Confirm(cmd, question)
	if err == nil && !yes {
		err = errors.New("nothing was changed")
	}
	return err
}
