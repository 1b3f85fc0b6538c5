package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/assemble/hosts"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/live"
	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	_ "linerate/internal/study/kinds" // the kind of live hosts
	"linerate/internal/study/switchback"
	"linerate/internal/study/ways/kernel"
	"linerate/internal/studydir"
)

const proveLong = `Prove switches settings of a host in production back and forth, in windows of a few
minutes, under the host's own traffic, and says whether what you watch gets better:
pairs of windows in an order drawn by chance, every fourth pair a sham. Nothing is
installed there. In each window, with the setting or without, the host has a dead-man's
switch, which puts it back if this command, the connection or this machine dies;
guardrails end the study and put the host back when errors, drops, memory, the run
queue or the metric itself go wrong.

Metrics:
  log:PATH               95th percentile of the time of requests in the server's access
                         log (log:PATH#p50, #p99, #errors, #rate; log:PATH?path=/api/*)
  cpu-per-packet         the kernel's CPU time per packet
  cpu-per-request:PATH   the same per request, counted in an access log
  retransmits  rtt  delivery-rate  drops
  probe:URL              http://…, https://…, tcp://HOST:PORT or icmp://HOST, from here
  command:PATH           a program on this machine that prints one number
  prometheus:URL#QUERY   an instant query of a Prometheus server

Before anything is changed it looks for a while and says how narrow an interval an
hour, six hours and a day would give (--dry-run ends there).

With --plan all settings of a plan (linerate plan) that can be tried on a running host
are tried at once; where that is better, each is then left out in turn, to see which
of them it needs. With --detach the study goes on without this terminal: linerate
status shows it, linerate study stop ends it and puts the host back.`

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
	share   percentage
	margin  percentage
	harm    percentage
	plan    string
	dryRun  bool
	detach  bool
	yes     bool
	hours   *live.Hours
}

// newProveCmd studies a live host.
func newProveCmd() *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove NAME=VALUE… " + targetUse,
		Short: "measure whether a setting helps on a production host, under its own traffic",
		Long:  proveLong + "\n\n" + targetHelp,
		RunE:  f.do,
	}
	f.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metrics, "metric", nil, "metric to improve (repeatable; the first decides)")
	flags.StringVar(&f.terms.Better, "better", "", "lower or higher, for your own values")
	flags.StringVar(&f.plan, "plan", "", "try all settings of this plan (`FILE`), then leave out one at a time")
	flags.DurationVar(&f.time, "time", 0, "how long the study may take (default: until --pairs are done)")
	flags.IntVar(&f.pairs, "pairs", 12, "pairs of windows with the setting")
	flags.DurationVar(&f.window, "window", 5*time.Minute, "length of a window")
	flags.DurationVar(&f.burn, "burn-in", 0, "start of each window that is not measured (default: a fifth)")
	flags.DurationVar(&f.pilot, "pilot", 0, "how long to observe first (default: two windows, at most 10m)")
	f.harm, f.margin = 20, 3
	flags.Var(&f.harm, "harm", "end the study when the metric is worse by this much")
	flags.Var(&f.share, "max-share", "largest share of time with the setting, up to 50%")
	flags.StringVar(&f.terms.Hours, "hours", "", "hours of the day in which the host may be changed: 01:00-05:00")
	flags.StringVar(&f.terms.Service, "service", "", "a process: windows in which it restarts are invalid")
	flags.Var(&f.margin, "margin", "difference within which the two are equivalent")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "observe the host, print the detectable effect, change nothing")
	flags.BoolVar(&f.detach, "detach", false, "continue in the background")
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
	q, err := f.question(args)
	if err != nil {
		return err
	}
	s, err := f.spec(cmd, q)
	if err != nil {
		return err
	}
	// What cannot be tried is refused before anybody is asked, or anything written.
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
		return look(cmd, s, o)
	}
	if err := live.Check(cmd.Context(), o); err != nil {
		return err
	}
	if err := f.consent(cmd, s, q); err != nil {
		return err
	}
	if f.detach {
		return f.leave(cmd)
	}
	return f.conduct(cmd, at, s, q)
}

// conduct runs the study and, where a plan was better, the one of what it needs.
func (f *proveFlags) conduct(cmd *cobra.Command, at *liveAt, s study.Spec, q question) error {
	results, err := f.record(cmd, at, s, f.run.out)
	if err != nil {
		return err
	}
	verdict := failOnResults(f.run.failOn, results)
	if f.plan == "" || len(q.settings) < 2 || !isBetter(results) {
		return verdict
	}
	if s, err = f.spec(cmd, q.each()); err != nil {
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
	if !f.run.asJSON {
		writeNeeded(cmd.OutOrStdout(), q, each)
	}
	return verdict
}

// record runs a study in a new directory.
func (f *proveFlags) record(cmd *cobra.Command, at *liveAt, s study.Spec, path string) (study.Results, error) {
	dir, err := newRecord(path, s)
	if err != nil {
		return study.Results{}, err
	}
	defer dir.Close()
	return f.run.conductLive(cmd, at, dir)
}

// newRecord makes a study's directory: of a name with the time, and a number where
// another study began in the same second, unless its user names one.
func newRecord(path string, s study.Spec) (*studydir.Dir, error) {
	if path != "" {
		return studydir.Create(path, s)
	}
	base := "linerate-" + s.Name + "-" + time.Now().Format("20060102-150405")
	for n := 1; ; n++ {
		path = base
		if n > 1 {
			path += "-" + strconv.Itoa(n)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) && n < 100 {
			continue
		}
		dir, err := studydir.Create(path, s)
		if errors.Is(err, fs.ErrExist) && n < 100 {
			continue // at this very moment
		}
		return dir, err
	}
}

// assigned is NAME=VALUE of a setting.
var assigned = regexp.MustCompile(`^([A-Za-z0-9_.\-/%:*]+)=(.*)$`)

// offload is DEVICE:FEATURE of an interface.
var offload = regexp.MustCompile(`^([A-Za-z0-9_.@-]+):([a-z][a-z0-9-]*)$`)

// settingOf is a setting by its name, of an interface or a sysctl.
func settingOf(name, value string) study.Setting {
	if m := offload.FindStringSubmatch(name); m != nil {
		return kernel.LinkTo(m[1], m[2], value)
	}
	return kernel.SysctlTo(name, value)
}

// nameOf is what settingOf reads.
func nameOf(s study.Setting) string {
	if s.Is(setting.Link) {
		return s.Device + ":" + s.Setting().Name
	}
	return s.Setting().Name
}

// question is what a study is to answer.
type question struct {
	host     string
	settings []study.Setting
	leaveOut bool           // each of the settings, from all of them
	made     apply.Identity // what the plan was made for, where one was
}

// question reads the arguments and the plan.
func (f *proveFlags) question(args []string) (q question, err error) {
	for i, a := range args {
		m := assigned.FindStringSubmatch(a)
		switch {
		case m != nil && !hosts.IsRemote(a):
			q.settings = append(q.settings, settingOf(m[1], strings.TrimSpace(m[2])))
		case i == len(args)-1 && hosts.IsRemote(a):
			q.host = a
		default:
			return q, hint.With(hint.Usagef("%q is no NAME=VALUE", a), "such as: linerate prove net.ipv4.tcp_slow_start_after_idle=0 ssh://www1 --metric log:/var/log/nginx/access.log")
		}
	}
	if f.plan != "" {
		if len(q.settings) > 0 {
			return q, hint.Usagef("--plan names the settings: leave %s out", nameOf(q.settings[0]))
		}
		return q, f.planned(&q)
	}
	if len(q.settings) == 0 {
		return q, hint.With(hint.Usagef("no setting to try"), "name it as NAME=VALUE, or a plan with --plan")
	}
	return q, nil
}

// text asks it.
func (q question) text() string {
	where := "this host"
	if q.host != "" {
		where = q.host
	}
	if q.leaveOut {
		return fmt.Sprintf("Which of %s does %s need, under its own traffic?", titles(q.settings), where)
	}
	return fmt.Sprintf("Does %s help on %s, under its own traffic?", titles(q.settings), where)
}

func titles(settings []study.Setting) string {
	out := list.Map(settings, func(s study.Setting) string { return nameOf(s) + "=" + s.Value })
	return strings.Join(out, ", ")
}

// variants are what is compared, the control first.
func (q question) variants() []study.Variant {
	if q.leaveOut {
		return q.leavingOut()
	}
	return []study.Variant{{Name: "as-is", Summary: "the host as it is"}, {Name: "setting", Settings: q.settings}}
}

// spec is the study that the question and the flags ask for.
func (f *proveFlags) spec(cmd *cobra.Command, q question) (study.Spec, error) {
	s := study.Spec{Name: "prove", Testbed: study.Testbed{Kind: study.KindLive, Host: q.host, Become: f.Become}, Question: q.text(), Variants: q.variants()}
	if len(f.metrics) == 0 {
		return s, hint.With(hint.Usagef("no metric"), "say what is to get better: --metric log:/var/log/nginx/access.log, cpu-per-packet, probe:URL … (linerate prove --help)")
	}
	f.terms.Watch, f.terms.MaxShare, f.terms.HarmPercent = f.metrics, float64(f.share), float64(f.harm)
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
	if f.terms.Hours != "" {
		h, err := live.ParseHours(f.terms.Hours)
		if err == nil {
			err = h.Fits(f.window)
		}
		if err != nil {
			return s, fmt.Errorf("--hours: %w", err)
		}
		f.hours = h
	}
	s.Parts = []study.Part{{Name: "live", Mode: switchback.Mode, Own: &switchback.Keys{Live: &f.terms}}}
	return f.size(cmd, s, q)
}

// size settles how many pairs there are, when they are looked at, and the seed, and
// checks the study as one from a file.
func (f *proveFlags) size(cmd *cobra.Command, s study.Spec, q question) (study.Spec, error) {
	precision, err := percent(f.run.precision)
	if err != nil {
		return s, err
	}
	if err := checkFailOn(f.run.failOn); err != nil {
		return s, err
	}
	s.Control = s.Variants[0].Name
	design := switchback.PlanOf(s, s.Parts[0])
	pilot := time.Duration(f.terms.Pilot * float64(time.Second))
	if f.time > 0 && !cmd.Flags().Changed("pairs") {
		free := f.time - pilot
		if f.hours != nil {
			free = f.hours.Within(time.Now().Add(pilot), free)
		}
		f.pairs = design.PairsIn(free)
	}
	least := design.LeastPairs()
	if q.leaveOut {
		f.pairs = max(f.pairs, least)
	}
	if f.pairs < least {
		design.Pairs = least
		return s, hint.With(hint.Usagef("%s cannot decide: at least %d are needed", show.Plural(f.pairs, "pair"), least), "with windows of %s give it --time %s or more, or shorter windows", f.window, (design.Duration() + pilot).Round(time.Second))
	}
	if err := f.goals(&s); err != nil {
		return s, err
	}
	s.Parts[0].Blocks = design.BlocksFor(f.pairs)
	s.Blocks = s.Parts[0].Blocks
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

// goals are the metrics, the first of which decides.
func (f *proveFlags) goals(s *study.Spec) error {
	for _, m := range f.metrics {
		// Read now, not when the study has a directory already.
		if _, err := (&live.Options{Better: stats.Direction(f.terms.Better)}).ParseMetric(m); err != nil {
			return hint.Usage(err)
		}
		name := switchback.MetricOf(m, f.terms.Better)
		if name == "" {
			return hint.Usagef("metric %s: not known", m)
		}
		g := study.Goal{Metric: name, Part: "live", Primary: len(s.Metrics) == 0}
		if metric, _ := study.MetricNamed(name); metric.Share {
			g.MarginPoints = float64(f.margin) / 100
		} else {
			g.MarginPercent = float64(f.margin)
		}
		s.Metrics = append(s.Metrics, g)
	}
	return nil
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
	out, wrong, err := study.Made(data)
	if wrong != nil {
		err = hint.Usagef("%s", inFlags(wrong))
		if wrong.Hint() != "" {
			err = hint.With(err, "%s", wrong.Hint())
		}
	}
	return out, hint.Usage(err)
}

// flagOf names the flag behind a key of the study that the flags make.
var flagOf = map[string]string{
	"window": "--window", "burn_in": "--burn-in", "pilot": "--pilot", "harm_percent": "--harm", "max_share_percent": "--max-share",
	"better": "--better", "margin_percent": "--margin", "margin_points": "--margin", "blocks": "--pairs",
}

// inFlags says what is wrong with such a study in the words of its user, in seconds
// where they are a study's.
func inFlags(p *study.Problem) string {
	key := p.Path()[strings.LastIndexByte(p.Path(), '.')+1:]
	flag, ok := flagOf[key]
	if !ok {
		return p.What()
	}
	if rest, ok := strings.CutPrefix(p.What(), key+": "); ok {
		return flag + ": " + rest
	}
	return flag + ": " + p.What()
}
