package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/live"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// ofConnections are the flags that a study by connection takes.
var ofConnections = []string{"per", "metric", "time", "window", "dry-run", "harm", "service", "margin", "yes", "out", "seed", "json", "fail-on", "ledger"}

// perConnection has each connection draw its arm.
func (f *proveFlags) perConnection(cmd *cobra.Command, q study.Question) error {
	if q.Host != "" {
		return hint.With(hint.Usagef("connections draw their arms on the machine that linerate runs on"), "copy linerate to %s and run it there as root", q.Host)
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

// foresee is a dry run: a window in which nothing is treated.
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

// consentToSplit says what is going to happen, and asks whether it may.
func (f *proveFlags) consentToSplit(cmd *cobra.Command, s study.Spec) error {
	page := show.NewPage(cli.StyleOf(cmd.ErrOrStderr()))
	page.Line(s.Question)
	of := cmp.Or(f.terms.Service, "this machine")
	page.Paragraph("  ", "  ", fmt.Sprintf("For about %s each TCP connection that %s accepts draws an arm: at first %s of them get the setting, then 10, 50 or 90 %%. "+
		"The kernel detaches the program when this command ends, however it ends; connections that got the setting keep it until they close. The study ends when they are shown to be %s worse.",
		show.Clock(study.Lasts(s.Parts[0])), of, show.WholePercent(100*study.Ramp), &f.harm))
	return f.agree(cmd, page, "Split the connections of this host?")
}

// split runs the study and prints its outcome.
func (f *runFlags) split(cmd *cobra.Command, at *liveAt, dir *studydir.Dir) error {
	if len(dir.Trials) > 0 {
		return hint.With(fmt.Errorf("%s: a study by connection does not go on: the clients of its windows cannot be told again", dir.Path), "run it anew: linerate study run %s %s",
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
	err = f.conclude(cmd, dir, results, runErr, func() {
		fmt.Fprintf(cmd.ErrOrStderr(), "the program is detached; the record so far: %s\n", dir.Path)
	})
	if err != nil {
		return err
	}
	return failOnResults(f.failOn, results)
}
