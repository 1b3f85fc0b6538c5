package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/live"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	_ "linerate/internal/study/kinds" // the kind of live hosts
	"linerate/internal/study/switchback"
	"linerate/internal/studydir"
)

const proveLong = `Prove switches settings of a host in production back and forth, in windows of a few
minutes, under the host's own traffic, and says whether what you watch gets better:
pairs of windows in an order drawn by chance, every fourth pair a sham. Nothing is
installed there. Each window is a change that the host takes back by itself if this
command, the connection or this machine dies; guardrails end the study and put the
host back when errors, drops, memory, the run queue or the metric itself go wrong.

Metrics:
  log:PATH               95th percentile of the time of requests in the server's access
                         log (log:PATH#p50, #p99, #errors; log:PATH?path=/api/*)
  cpu-per-packet         the kernel's CPU time per packet
  cpu-per-request:PATH   the same per request, counted in an access log
  retransmits  rtt  drops
  probe:URL              http://…, https://… or tcp://HOST:PORT, from here
  command:PATH           a program on this machine that prints one number
  prometheus:URL#QUERY   an instant query of a Prometheus server

Before anything is changed it looks for a while and says how narrow an interval an
hour, six hours and a day would give (--dry-run ends there).`

type proveFlags struct {
	target
	run     runFlags
	metrics []string
	terms   switchback.Terms
	window  time.Duration
	burn    time.Duration
	pilot   time.Duration
	time    time.Duration
	pairs   int
	share   float64
	margin  float64
	dryRun  bool
	yes     bool
}

// newProveCmd studies a live host.
func newProveCmd() *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove NAME=VALUE… " + targetUse,
		Short: "whether a setting helps on a host in production, under its own traffic",
		Long:  proveLong + "\n\n" + targetHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE:  f.do,
	}
	f.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metrics, "metric", nil, "what is to get better (repeatable; the first decides)")
	flags.StringVar(&f.terms.Better, "better", "", "lower or higher, for values of your own")
	flags.DurationVar(&f.time, "time", 0, "how long the study may take (default: until --pairs are done)")
	flags.IntVar(&f.pairs, "pairs", 12, "pairs of windows with the setting")
	flags.DurationVar(&f.window, "window", 5*time.Minute, "length of a window")
	flags.DurationVar(&f.burn, "burn-in", 0, "start of each window that does not count (default: a fifth)")
	flags.DurationVar(&f.pilot, "pilot", 0, "how long to look first (default: two windows, at most 10m)")
	flags.Float64Var(&f.terms.HarmPercent, "harm", 20, "percent by which the metric may get worse before the study ends")
	flags.Float64Var(&f.share, "max-share", 0, "percent of the time that may be under the setting")
	flags.StringVar(&f.terms.Hours, "hours", "", "hours of the day in which the host may be changed: 01:00-05:00")
	flags.StringVar(&f.terms.Service, "service", "", "a process: windows in which it is started anew do not count")
	flags.Float64Var(&f.margin, "margin", 3, "percent within which the two are equivalent")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "look, say what a study could show, change nothing")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.StringVar(&f.run.out, "out", "", "directory of the study's record (default: linerate-prove-TIME)")
	flags.Uint64Var(&f.run.seed, "seed", 0, "seed of the order (default: drawn)")
	flags.StringVar(&f.run.precision, "precision", "", "stop when the interval is as narrow as this (1% is ±1 %)")
	flags.BoolVar(&f.run.asJSON, "json", false, "print the results as one JSON document")
	flags.BoolVar(&f.run.noLedger, "no-ledger", false, "leave the study out of the ledger")
	addFailOn(cmd, &f.run.failOn)
	addLedgerFlag(cmd, &f.run.ledger)
	return cmd
}

func (f *proveFlags) do(cmd *cobra.Command, args []string) error {
	s, err := f.spec(cmd, args)
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.look(cmd, s)
	}
	if err := f.consent(cmd, s); err != nil {
		return err
	}
	path := f.run.out
	if path == "" {
		path = "linerate-prove-" + time.Now().Format("20060102-150405")
	}
	dir, err := studydir.Create(path, s)
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.run.conductLive(cmd, dir, &f.Remote)
}

// assigned is NAME=VALUE of a setting.
var assigned = regexp.MustCompile(`^([A-Za-z0-9_.\-/%:*]+)=(.*)$`)

// spec is the study that the arguments and flags ask for.
func (f *proveFlags) spec(cmd *cobra.Command, args []string) (study.Spec, error) {
	s := study.Spec{Name: "prove", Testbed: study.Testbed{Kind: study.KindLive, Become: f.Become}}
	tried := study.Variant{Name: "setting"}
	var titles []string
	for i, a := range args {
		m := assigned.FindStringSubmatch(a)
		switch {
		case m != nil && !hosts.IsRemote(a):
			tried.Settings = append(tried.Settings, study.Setting{Sysctl: m[1], Value: strings.TrimSpace(m[2])})
			titles = append(titles, a)
		case i == len(args)-1 && hosts.IsRemote(a):
			s.Testbed.Host = a
		default:
			return s, hint.With(hint.Usagef("%q is no NAME=VALUE", a), "such as: linerate prove net.ipv4.tcp_slow_start_after_idle=0 ssh://www1 --metric log:/var/log/nginx/access.log")
		}
	}
	if len(tried.Settings) == 0 {
		return s, hint.Usagef("no setting to try: name it as NAME=VALUE")
	}
	if len(f.metrics) == 0 {
		return s, hint.With(hint.Usagef("no metric"), "say what is to get better: --metric log:/var/log/nginx/access.log, cpu-per-packet, probe:URL … (linerate prove --help)")
	}
	where := "this host"
	if s.Testbed.Host != "" {
		where = s.Testbed.Host
	}
	s.Question = fmt.Sprintf("Does %s help on %s, under its own traffic?", strings.Join(titles, ", "), where)
	s.Variants = []study.Variant{{Name: "as-is", Summary: "the host as it is"}, tried}
	f.terms.Watch, f.terms.MaxShare = f.metrics, f.share
	f.terms.Window = f.window.Seconds()
	if f.burn > 0 {
		f.terms.BurnIn = f.burn.Seconds()
	} else {
		f.terms.BurnIn = f.window.Seconds() / 5
	}
	f.terms.Pilot = f.pilot.Seconds()
	if f.pilot == 0 {
		f.terms.Pilot = min(max(2*f.terms.Window, 10), 600)
	}
	f.terms.Imbalance = 2
	s.Parts = []study.Part{{Name: "live", Mode: switchback.Mode, Own: &switchback.Keys{Live: &f.terms}}}
	return f.size(cmd, s)
}

// size settles how many pairs there are, when they are looked at, and the seed, and
// checks the study as one from a file.
func (f *proveFlags) size(cmd *cobra.Command, s study.Spec) (study.Spec, error) {
	precision, err := percent(f.run.precision)
	if err != nil {
		return s, err
	}
	if err := checkFailOn(f.run.failOn); err != nil {
		return s, err
	}
	s.Control = s.Variants[0].Name
	design := switchback.PlanOf(s, s.Parts[0])
	if f.time > 0 && !cmd.Flags().Changed("pairs") {
		f.pairs = design.PairsIn(f.time - time.Duration(f.terms.Pilot)*time.Second)
	}
	if f.pairs < stats.LeastPairs {
		need := time.Duration(stats.LeastPairs)*design.Duration()/time.Duration(max(1, design.Pairs)) + time.Duration(f.terms.Pilot)*time.Second
		return s, hint.With(hint.Usagef("%s cannot decide: at least %d are needed", show.Plural(f.pairs, "pair"), stats.LeastPairs), "with windows of %s give it --time %s or more, or shorter windows", f.window, need.Round(time.Second))
	}
	for _, m := range f.metrics {
		// Read now, not when the study has a directory already.
		if _, err := (&live.Options{Better: stats.Direction(f.terms.Better)}).ParseMetric(m); err != nil {
			return s, hint.Usage(err)
		}
		name := switchback.MetricOf(m, f.terms.Better)
		if name == "" {
			return s, hint.Usagef("metric %s: not known", m)
		}
		g := study.Goal{Metric: name, Part: "live", Primary: len(s.Metrics) == 0}
		if metric, _ := study.MetricNamed(name); metric.Share {
			g.MarginPoints = f.margin / 100
		} else {
			g.MarginPercent = f.margin
		}
		s.Metrics = append(s.Metrics, g)
	}
	s.Blocks = design.BlocksFor(f.pairs)
	s.Parts[0].Blocks = s.Blocks
	seed := f.run.seed
	if !cmd.Flags().Changed("seed") {
		seed = uint64(rand.Uint32())
	}
	s.Seed = &seed
	if s, err = parsed(s, f.terms); err != nil {
		return s, err
	}
	s.Looks = design.LooksOf(f.pairs, precision)
	return s, nil
}

// parsed is the study as one from a file: with its defaults, and checked.
func parsed(s study.Spec, terms switchback.Terms) (study.Spec, error) {
	type part struct {
		Name   string           `yaml:"name"`
		Blocks int              `yaml:"blocks"`
		Live   switchback.Terms `yaml:"live"`
	}
	data, err := yaml.Marshal(struct {
		Version  int             `yaml:"version"`
		Name     string          `yaml:"name"`
		Question string          `yaml:"question"`
		Testbed  study.Testbed   `yaml:"testbed"`
		Seed     *uint64         `yaml:"seed"`
		Variants []study.Variant `yaml:"variants"`
		Parts    []part          `yaml:"parts"`
		Metrics  []study.Goal    `yaml:"metrics"`
	}{study.SpecVersion, s.Name, s.Question, s.Testbed, s.Seed, s.Variants, []part{{"live", s.Parts[0].Blocks, terms}}, s.Metrics})
	if err != nil {
		return s, err
	}
	out, err := study.Parse("the study", data)
	return out, hint.Usage(err)
}

// look is a dry run: the pilot alone.
func (f *proveFlags) look(cmd *cobra.Command, s study.Spec) error {
	h, err := assemble.LiveHostOf(s, &f.Remote)
	if err != nil {
		return err
	}
	defer h.Close()
	facts, err := h.Facts(cmd.Context())
	if err != nil {
		return err
	}
	o, err := h.Options(s, *s.Seed, facts)
	if err != nil {
		return err
	}
	o.DryRun = true
	o.Say = talker(cmd)
	out, err := live.Run(cmd.Context(), o)
	if err != nil {
		return err
	}
	return writePilot(cmd.OutOrStdout(), s, out.Pilot)
}

// writePilot says what a study of a length could show.
func writePilot(w io.Writer, s study.Spec, pilots map[string]switchback.Pilot) error {
	design := switchback.PlanOf(s, s.Parts[0])
	rows := [][]string{}
	for _, g := range s.Metrics {
		m, _ := study.MetricNamed(g.Metric)
		p, ok := pilots[g.Metric]
		if !ok {
			rows = append(rows, []string{m.Label, "too few values", "", "", ""})
			continue
		}
		row := []string{m.Label, show.Percent(100 * p.SD)}
		for _, in := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour} {
			half := p.HalfWidth(design, in)
			text := "±" + show.Percent(half)
			if math.IsNaN(half) {
				text = "cannot decide"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	page := show.NewPage(cli.StyleOf(w))
	page.Line(fmt.Sprintf("What a study with windows of %s would show (half the 95 %% interval), if the traffic stays as it was:", design.Window))
	page.Table(show.Table{Header: []string{"metric", "scatter", "in 1 h", "in 6 h", "in 24 h"}, Right: []bool{false, true, true, true, true}, Rows: rows})
	return page.Flush(w)
}

// consent says what is going to happen, and asks whether it may.
func (f *proveFlags) consent(cmd *cobra.Command, s study.Spec) error {
	w := cmd.ErrOrStderr()
	design := switchback.PlanOf(s, s.Parts[0])
	page := show.NewPage(cli.StyleOf(w))
	page.Line(s.Question)
	page.Paragraph("  ", "  ", fmt.Sprintf("%d pairs of windows of %s with the setting and %d shams, about %s; %.0f %% of the time with the setting. "+
		"The host takes each window back by itself if this command dies. The study ends when the metric gets more than %g %% worse, or the host does not answer.",
		design.Pairs, design.Window, s.Parts[0].Blocks-design.Pairs, show.Clock(design.Duration()), 100*design.Share(), f.terms.HarmPercent))
	if err := page.Flush(w); err != nil || f.yes {
		return err
	}
	in := cmd.InOrStdin()
	if file, ok := in.(*os.File); !ok || !cli.IsTerminal(file) {
		return hint.With(hint.Usagef("nobody is there to be asked"), "add --yes to change the host without asking")
	}
	fmt.Fprint(w, "Change this host? [y/N] ")
	line, _ := bufio.NewReader(in).ReadString('\n')
	if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y") {
		return errors.New("nothing was changed")
	}
	return nil
}

func talker(cmd *cobra.Command) func(string, ...any) {
	return func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), "linerate: "+format+"\n", args...) }
}

// conductLive runs what a directory of a live host has left.
func (f *runFlags) conductLive(cmd *cobra.Command, dir *studydir.Dir, remote *hosts.Remote) error {
	h, err := assemble.LiveHostOf(dir.Spec, remote)
	if err != nil {
		return err
	}
	defer h.Close()
	facts, err := h.Facts(cmd.Context())
	if err != nil {
		f.tellResume(cmd, dir)
		return err
	}
	env := study.EnvironmentOf(facts)
	env.Label, env.Engine = assemble.LiveLabel, "its own traffic"
	env.Testbeds = map[string]study.BedNotes{string(switchback.Mode): {Kind: study.KindLive}}
	env.Linerate, env.Command = cli.Version(), append([]string{"linerate"}, os.Args[1:]...)
	ref, err := dir.KeepFacts(facts)
	if err != nil {
		return err
	}
	env.Facts = []study.FactsRef{ref}
	o, err := h.Options(dir.Spec, dir.Seed, facts)
	if err != nil {
		return err
	}
	o.Done, o.Say = assemble.WindowsOf(dir.Spec, dir.Trials), talker(cmd)
	o.Piloted = func(p map[string]switchback.Pilot) error { return writePilot(cmd.ErrOrStderr(), dir.Spec, p) }
	o.Sink = func(w live.Window) error { return tellWindow(cmd, dir, w) }
	o.Enough = func([]live.Window) bool { return dir.Spec.Settled(dir.Seed, dir.Trials) }
	out, runErr := live.Run(cmd.Context(), o)
	results := study.Analyse(dir.Spec, dir.Seed, env.Resume(dir.Environment), dir.Trials)
	if err := writeOutcome(dir.Path, dir.Spec, results); err != nil {
		return errors.Join(runErr, err)
	}
	if runErr != nil {
		tellLive(cmd, runErr, out)
		f.tellResume(cmd, dir)
		return runErr
	}
	if !f.noLedger {
		noteStudy(cmd, f.ledger, dir.Path)
	}
	if err := printResults(cmd, results, f.asJSON); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(dir.Path, studydir.ReportFile))
	return failOnResults(f.failOn, results)
}

// tellLive says how the host is after a study that did not come to its end.
func tellLive(cmd *cobra.Command, err error, out live.Outcome) {
	if out.Restored && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		fmt.Fprintln(cmd.ErrOrStderr(), "the host is as it was")
	}
}

// tellWindow keeps a window and prints a line of it: what was seen, what is left, how
// narrow the interval is so far.
func tellWindow(cmd *cobra.Command, dir *studydir.Dir, w live.Window) error {
	t := assemble.TrialOf(dir.Spec, w)
	if err := dir.Append(t); err != nil {
		return err
	}
	m, _ := study.MetricNamed(dir.Spec.Primary().Metric)
	value := "nothing to measure"
	if v, ok := w.Value[m.Name]; ok {
		value = show.Value(v)
		if m.NS == study.IsTime {
			value = show.Nanos(v)
		}
	}
	what := fmt.Sprintf("pair %d.%d", w.Pair, w.Half)
	switch {
	case w.Ramp:
		what = "first exposures"
	case w.Pair == 0:
		what = "rest"
	}
	line := fmt.Sprintf("%s  %-8s %s", what, t.Variant, value)
	if !t.Valid {
		line += "  does not count: " + strings.Join(t.Why(), "; ")
	} else if w.Half == 2 {
		if _, half := dir.Spec.Interim(dir.Seed, dir.Trials); half.Known() {
			line += fmt.Sprintf("  ±%s so far", show.Percent(half.Float()))
		}
		left := len(slices.DeleteFunc(study.Schedule(dir.Spec, dir.Seed), func(s study.Slot) bool { return s.Block <= w.Pair }))
		line += fmt.Sprintf("  at most %s left", show.Clock(time.Duration(left)*switchback.PlanOf(dir.Spec, dir.Spec.Parts[0]).Window))
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), line)
	return err
}
