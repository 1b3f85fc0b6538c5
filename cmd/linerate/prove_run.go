package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/live"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// look performs a dry run: it runs only the pilot, and prints the forecast.
func look(cmd *cobra.Command, at *liveAt, s study.Spec, o live.Options) error {
	if err := at.CountKernel(&o); err != nil {
		return err
	}
	o.DryRun = true
	o.Say = talker(cmd)
	out, err := live.Run(cmd.Context(), o)
	if err != nil {
		return err
	}
	if _, _, why := s.Planned(out.Pilot); why != "" {
		o.Say("%s", why)
	}
	return writePilot(cmd.OutOrStdout(), s, out.Pilot, out.Watched)
}

func talker(cmd *cobra.Command) func(string, ...any) {
	return func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), "linerate: "+format+"\n", args...) }
}

// liveAt is a live host with the facts read at the start of the study.
type liveAt struct {
	*assemble.LiveHost
	facts *fact.Facts
}

// reachLive connects to the host of a study and reads its facts.
func reachLive(cmd *cobra.Command, s study.Spec, remote *hosts.Remote) (*liveAt, error) {
	h, err := assemble.LiveHostOf(s, remote)
	if err != nil {
		return nil, err
	}
	facts, err := h.Facts(cmd.Context())
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return &liveAt{h, facts}, nil
}

// resumeLive runs the remaining windows of a study of a live host. It refuses a study that a
// guardrail stopped: resuming would apply the harmful setting again.
func (f *runFlags) resumeLive(cmd *cobra.Command, dir *studydir.Dir, remote *hosts.Remote) error {
	if variant, trip := study.TripOf(dir.Trials); trip != nil {
		return hint.With(fmt.Errorf("%s: guardrail %q ended the study under %s: %s", dir.Path, trip.Guardrail, variant, trip.Text),
			"to try the setting again, run the study in another directory: linerate study run %s %s", host.Word(filepath.Join(dir.Path, studydir.SpecFile)), hint.Option("out", "DIR"))
	}
	at, err := reachLive(cmd, dir.Spec, remote)
	if err != nil {
		f.tellResume(cmd, dir)
		return err
	}
	defer at.Close()
	if dir.Spec.Design == study.Concurrent {
		return f.split(cmd, at, dir)
	}
	results, err := f.conductLive(cmd, at, dir)
	if err != nil {
		return err
	}
	return failOnResults(f.failOn, results)
}

// conductLive runs the remaining windows of a study of a live host, and prints the outcome.
func (f *runFlags) conductLive(cmd *cobra.Command, at *liveAt, dir *studydir.Dir) (study.Results, error) {
	env, err := recordHost(dir, at.facts, liveEngine, assemble.LiveLabel)
	if err != nil {
		return study.Results{}, err
	}
	o, err := at.Options(dir.Spec, dir.Seed, at.facts)
	if err != nil {
		return study.Results{}, err
	}
	o.About = proved(dir)
	o.Done, o.Say = assemble.WindowsOf(dir.Spec, dir.Trials), talker(cmd)
	if err := at.CountKernel(&o); err != nil {
		return study.Results{}, err
	}
	o.Piloted = func(p map[string]study.Pilot, watched []string) (int, error) {
		s, pairs, why := dir.Spec.Planned(p)
		if why != "" {
			o.Say("%s", why)
		}
		if pairs > 0 {
			if err := dir.Replan(s); err != nil {
				return 0, err
			}
		}
		return pairs, writePilot(cmd.ErrOrStderr(), dir.Spec, p, watched)
	}
	o.Sink = func(w live.Window) error { return tellWindow(cmd, dir, w) }
	o.Enough = func([]live.Window) bool { return dir.Spec.Settled(dir.Seed, dir.Trials) }
	out, runErr := live.Run(cmd.Context(), o)
	env.Testbeds = map[string]study.BedNotes{string(study.SwitchbackMode): {Kind: study.KindLive, Notes: out.Watched}}
	results := study.Analyse(dir.Spec, dir.Seed, env.Resume(dir.Environment), dir.Trials)
	return results, f.conclude(cmd, dir, results, runErr, func() {
		if out.Restored && (errors.Is(runErr, context.Canceled) || errors.Is(runErr, context.DeadlineExceeded) || errors.Is(runErr, live.ErrStopped)) {
			fmt.Fprintln(cmd.ErrOrStderr(), "the host is as it was")
		}
		f.tellResume(cmd, dir)
	})
}

// liveEngine is recorded as the traffic engine of a live host.
const liveEngine = "its own traffic"

// proved describes a study, for the host's lock: its question, and where it was run.
func proved(dir *studydir.Dir) string {
	path, err := filepath.Abs(dir.Path)
	if err != nil {
		path = dir.Path
	}
	from, _ := os.Hostname() // if unknown, the text names only the directory
	return show.Clean(fmt.Sprintf("%s Run from %s:%s", dir.Spec.Question, from, path))
}

// tellWindow appends a window to the record and prints one line about it.
func tellWindow(cmd *cobra.Command, dir *studydir.Dir, w live.Window) error {
	t := assemble.TrialOf(dir.Spec, w)
	if err := dir.Append(t); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), assemble.WindowLine(dir.Spec, dir.Seed, dir.Trials, w))
	return err
}

// ofConnections lists the flags that apply to a study by connection.
var ofConnections = []string{"per", "metric", "time", "window", "dry-run", "harm", "service", "margin", "yes", "out", "seed", "json", "fail-on", "ledger"}

// perConnection runs a study in which each connection draws its arm.
func (f *proveFlags) perConnection(cmd *cobra.Command, q study.Question) error {
	if q.Host != "" {
		return hint.With(hint.Usagef("connections are assigned to arms only on the machine that linerate runs on"), "copy linerate to %s and run it there as root", q.Host)
	}
	var other []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(ofConnections, flag.Name) {
			other = append(other, "--"+flag.Name)
		}
	})
	if len(other) > 0 {
		return hint.Usagef("%s: not with --per connection, whose arms are up at once", strings.Join(other, ", "))
	}
	s, err := f.specOfConnections(cmd, q)
	if err != nil {
		return err
	}
	at, err := reachLive(cmd, s, &f.Remote)
	if err != nil {
		return err
	}
	defer at.Close()
	if !strings.EqualFold(at.facts.OS, fact.Linux) {
		return hint.With(fmt.Errorf("%s sets congestion control and TCP stacks for listening sockets, not for connections", at.facts.OS), "leave out --per: the host is then switched back and forth")
	}
	split := live.Split{Spec: s, Seed: *s.Seed, Conn: at.Conn}
	if f.dryRun {
		return foresee(cmd, split)
	}
	if err := split.Check(cmd.Context()); err != nil {
		return err
	}
	if err := f.consentToSplit(cmd, s); err != nil {
		return err
	}
	dir, err := studydir.CreateNew(f.run.out, s, time.Now())
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.run.split(cmd, at, dir)
}

// foresee performs a dry run: it observes a window in which no connection is treated.
func foresee(cmd *cobra.Command, split live.Split) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "linerate: looking at connections for %s, and as long again at how they end; nothing is changed\n", show.Clock(study.Lasts(split.Spec.Parts[0])/time.Duration(split.Spec.Parts[0].Blocks+2)))
	trials, err := split.Look(cmd.Context())
	if err != nil {
		return err
	}
	page := show.NewPage(cli.StyleOf(cmd.OutOrStdout()))
	for _, line := range study.ForeseeConnections(split.Spec, trials) {
		page.Paragraph("", "  ", line)
	}
	return page.Flush(cmd.OutOrStdout())
}

func (f *proveFlags) specOfConnections(cmd *cobra.Command, q study.Question) (study.Spec, error) {
	if err := checkFailOn(f.run.failOn); err != nil {
		return study.Spec{}, err
	}
	if len(f.metrics) == 0 {
		f.metrics = []string{"duration", "rtt", "delivery-rate", "retransmits"}
	}
	f.terms.Watch, f.terms.HarmPercent = f.metrics, float64(f.harm)
	if cmd.Flags().Changed("window") {
		f.terms.Window = f.window.Seconds()
	}
	d := study.Design{Terms: f.terms, Time: f.time, Margin: float64(f.margin), Seed: f.run.seed, Names: flagOf}
	if !cmd.Flags().Changed("seed") {
		d.Seed = uint64(rand.Uint32())
	}
	return q.PerConnection(&d)
}

// consentToSplit shows what the study will do and asks for consent.
func (f *proveFlags) consentToSplit(cmd *cobra.Command, s study.Spec) error {
	page := show.NewPage(cli.StyleOf(cmd.ErrOrStderr()))
	page.Line(s.Question)
	of := cmp.Or(f.terms.Service, "this machine")
	page.Paragraph("  ", "  ", fmt.Sprintf("For about %s each TCP connection that %s accepts draws an arm: at first %s of them get the setting, then 10, 50 or 90 %%. "+
		"The kernel detaches the program when this command ends, however it ends; connections that got the setting keep it until they close. The study ends when they are shown to be %s worse.",
		show.Clock(study.Lasts(s.Parts[0])), of, show.WholePercent(100*study.Ramp), &f.harm))
	return f.agree(cmd, page, "Split the connections of this host?")
}

// split runs a study by connection and prints its outcome.
func (f *runFlags) split(cmd *cobra.Command, at *liveAt, dir *studydir.Dir) error {
	if len(dir.Trials) > 0 {
		return hint.With(fmt.Errorf("%s: a study by connection cannot be resumed: its clients can no longer be identified", dir.Path), "run it again: linerate study run %s %s",
			host.Word(filepath.Join(dir.Path, studydir.SpecFile)), hint.Option("out", "DIR"))
	}
	env, err := recordHost(dir, at.facts, liveEngine, assemble.LiveLabel)
	if err != nil {
		return err
	}
	run := live.Split{Spec: dir.Spec, Seed: dir.Seed, Conn: at.Conn, Sink: dir.Append, Trials: func() []study.Trial { return dir.Trials },
		Told: func(window int) {
			fmt.Fprintln(cmd.ErrOrStderr(), study.ConnectionsLine(dir.Spec, dir.Seed, dir.Trials, window))
		}}
	out, runErr := run.Run(cmd.Context())
	env.Testbeds = map[string]study.BedNotes{string(study.ConnectionsMode): {Kind: study.KindLive, Notes: out.Notes}}
	results := study.Analyse(dir.Spec, dir.Seed, env, dir.Trials)
	for _, note := range out.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), note)
	}
	err = f.conclude(cmd, dir, results, runErr, func() {
		fmt.Fprintf(cmd.ErrOrStderr(), "the program is detached; the windows on record are in %s\n", dir.Path)
		if f.ledger != assemble.NoLedger && len(dir.Trials) > 0 { // the study cannot be resumed, so its trials are complete
			noteStudy(cmd, f.ledger, dir.Path)
		}
		if err := printResults(cmd, dir.Spec, results); err != nil {
			talker(cmd)("%v", err)
		}
	})
	if err != nil {
		return err
	}
	return failOnResults(f.failOn, results)
}
