package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/live"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/study/switchback"
	"linerate/internal/studydir"
)

// look is a dry run: the pilot alone.
func look(cmd *cobra.Command, s study.Spec, o live.Options) error {
	o.DryRun = true
	o.Say = talker(cmd)
	out, err := live.Run(cmd.Context(), o)
	if err != nil {
		return err
	}
	watched, err := o.Watched()
	if err != nil {
		return err
	}
	return writePilot(cmd.OutOrStdout(), s, out.Pilot, watched)
}

// writePilot says what a study of a length could show, and what each metric is.
func writePilot(w io.Writer, s study.Spec, pilots map[string]switchback.Pilot, watched []string) error {
	design := switchback.PlanOf(s, s.Parts[0])
	rows := [][]string{}
	for _, g := range s.Metrics {
		m, _ := study.MetricNamed(g.Metric)
		p := pilots[g.Metric]
		if lacks := p.Lacks(); lacks != "" {
			rows = append(rows, []string{m.Label, lacks, "", "", ""})
			continue
		}
		row := []string{m.Label, show.Percent(100 * p.SD)}
		for _, in := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour} {
			row = append(row, halfWidth(p.HalfWidth(design, in)))
		}
		rows = append(rows, row)
	}
	page := show.NewPage(cli.StyleOf(w))
	page.Line(fmt.Sprintf("What a study with windows of %s would show (half the 95 %% interval), if the traffic stays as it was:", design.Window))
	page.Table(show.Table{Header: []string{"metric", "scatter", "in 1 h", "in 6 h", "in 24 h"}, Right: []bool{false, true, true, true, true}, Rows: rows})
	for _, line := range watched {
		page.Paragraph("", "  ", line)
	}
	return page.Flush(w)
}

// leastTold is the narrowest interval that a forecast tells: it is no promise of more.
const leastTold = 0.1

func halfWidth(percent float64) string {
	switch {
	case math.IsNaN(percent):
		return "cannot decide"
	case percent < leastTold:
		return "< ±" + show.Percent(leastTold)
	}
	return "±" + show.Percent(percent)
}

// consent says what is going to happen, and asks whether it may.
func (f *proveFlags) consent(cmd *cobra.Command, s study.Spec, q question) error {
	w := cmd.ErrOrStderr()
	design := switchback.PlanOf(s, s.Parts[0])
	page := show.NewPage(cli.StyleOf(w))
	page.Line(s.Question)
	page.Paragraph("  ", "  ", fmt.Sprintf("%d pairs of windows of %s with the setting and %d shams, about %s; %.0f %% of the time with the setting. "+
		"The host takes each window back by itself if this command dies. The study ends when the metric gets more than %g %% worse, or the host does not answer.",
		design.Pairs, design.Window, s.Parts[0].Blocks-design.Pairs, show.Clock(design.Duration()), 100*design.Share(), f.terms.HarmPercent))
	if f.hours != nil {
		page.Paragraph("  ", "  ", fmt.Sprintf("The host is changed from %s by the clock of this machine, and is as it was between them.", strings.ReplaceAll(f.terms.Hours, "-", " to ")))
	}
	if f.plan != "" && len(q.settings) > 1 {
		design.Treatments = make([]string, len(q.settings))
		page.Paragraph("  ", "  ", fmt.Sprintf("Where it is better, each of the %d settings is then left out in turn: about %s more, with all but one of them on, or all.", len(q.settings), show.Clock(design.Duration())))
	}
	if err := page.Flush(w); err != nil || f.yes {
		return err
	}
	in := cmd.InOrStdin()
	if file, ok := in.(*os.File); !ok || !cli.IsTerminal(file) {
		return hint.With(hint.Usagef("standard input is not a terminal, so linerate cannot ask"), "add --yes to change the host without asking")
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

// liveAt is a live host, as it was read when a study began.
type liveAt struct {
	*assemble.LiveHost
	facts *fact.Facts
}

// reachLive reads the host of a study.
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

// resumeLive goes on with what a directory of a live host has left.
func (f *runFlags) resumeLive(cmd *cobra.Command, dir *studydir.Dir, remote *hosts.Remote) error {
	at, err := reachLive(cmd, dir.Spec, remote)
	if err != nil {
		f.tellResume(cmd, dir)
		return err
	}
	defer at.Close()
	results, err := f.conductLive(cmd, at, dir)
	if err != nil {
		return err
	}
	return failOnResults(f.failOn, results)
}

// conductLive runs what a directory of a live host has left, and prints the outcome.
func (f *runFlags) conductLive(cmd *cobra.Command, at *liveAt, dir *studydir.Dir) (study.Results, error) {
	env := study.EnvironmentOf(at.facts)
	env.Label, env.Engine = assemble.LiveLabel, "its own traffic"
	env.Linerate, env.Command = cli.Version(), append([]string{"linerate"}, os.Args[1:]...)
	ref, err := dir.KeepFacts(at.facts)
	if err != nil {
		return study.Results{}, err
	}
	env.Facts = []study.FactsRef{ref}
	o, err := at.Options(dir.Spec, dir.Seed, at.facts)
	if err != nil {
		return study.Results{}, err
	}
	watched, err := o.Watched()
	if err != nil {
		return study.Results{}, err
	}
	env.Testbeds = map[string]study.BedNotes{string(switchback.Mode): {Kind: study.KindLive, Notes: watched}}
	o.About = proved(dir)
	o.Done, o.Say = assemble.WindowsOf(dir.Spec, dir.Trials), talker(cmd)
	o.Piloted = func(p map[string]switchback.Pilot) error { return writePilot(cmd.ErrOrStderr(), dir.Spec, p, watched) }
	o.Sink = func(w live.Window) error { return tellWindow(cmd, dir, w) }
	o.Enough = func([]live.Window) bool { return dir.Spec.Settled(dir.Seed, dir.Trials) }
	out, runErr := live.Run(cmd.Context(), o)
	results := study.Analyse(dir.Spec, dir.Seed, env.Resume(dir.Environment), dir.Trials)
	if err := writeOutcome(dir.Path, dir.Spec, results); err != nil {
		return results, errors.Join(runErr, err)
	}
	if runErr != nil {
		tellLive(cmd, runErr, out)
		f.tellResume(cmd, dir)
		return results, runErr
	}
	if !f.noLedger {
		noteStudy(cmd, f.ledger, dir.Path)
	}
	if err := printResults(cmd, results, f.asJSON); err != nil {
		return results, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(dir.Path, studydir.ReportFile))
	return results, nil
}

// proved says on the host what is studied, and from where.
func proved(dir *studydir.Dir) string {
	path, err := filepath.Abs(dir.Path)
	if err != nil {
		path = dir.Path
	}
	from, _ := os.Hostname() // unknown: the directory alone
	return show.Clean(fmt.Sprintf("%s Run from %s:%s", dir.Spec.Question, from, path))
}

// tellLive says how the host is after a study that did not come to its end.
func tellLive(cmd *cobra.Command, err error, out live.Outcome) {
	if out.Restored && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, live.ErrStopped)) {
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
		value = switchback.ValueText(m, v)
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
