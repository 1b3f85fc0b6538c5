package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

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

// look is a dry run: the pilot alone.
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

// writePilot says what a study of a length could show, and what each metric is.
func writePilot(w io.Writer, s study.Spec, pilots map[string]study.Pilot, watched []string) error {
	page := show.NewPage(cli.StyleOf(w))
	study.PrintForecast(page, s, pilots)
	for _, line := range watched {
		page.Paragraph("", "  ", line)
	}
	return page.Flush(w)
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

// resumeLive goes on with what a directory of a live host has left. A study that a guardrail
// ended is over: to go on would apply the harmful setting again.
func (f *runFlags) resumeLive(cmd *cobra.Command, dir *studydir.Dir, remote *hosts.Remote) error {
	if variant, trip := study.TripOf(dir.Trials); trip != nil {
		return hint.With(fmt.Errorf("%s: guardrail %q ended the study under %s, and it is over: %s", dir.Path, trip.Guardrail, variant, trip.Text),
			"to try the setting again, run the study anew with another directory: linerate study run %s %s", host.Word(filepath.Join(dir.Path, studydir.SpecFile)), hint.Option("out", "DIR"))
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

// conductLive runs what a directory of a live host has left, and prints the outcome.
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

// liveEngine is what a record names as the engine of a live host's traffic.
const liveEngine = "its own traffic"

// proved says on the host what is studied, and from where.
func proved(dir *studydir.Dir) string {
	path, err := filepath.Abs(dir.Path)
	if err != nil {
		path = dir.Path
	}
	from, _ := os.Hostname() // unknown: the directory alone
	return show.Clean(fmt.Sprintf("%s Run from %s:%s", dir.Spec.Question, from, path))
}

// tellWindow keeps a window and prints a line of it.
func tellWindow(cmd *cobra.Command, dir *studydir.Dir, w live.Window) error {
	t := assemble.TrialOf(dir.Spec, w)
	if err := dir.Append(t); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), assemble.WindowLine(dir.Spec, dir.Seed, dir.Trials, w))
	return err
}
