package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/lab"
	"linerate/internal/report"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// runFlags are the flags of every verb that runs trials.
type runFlags struct {
	out       string
	seed      uint64
	quick     bool
	profile   bool
	blocks    int
	precision percentage
	within    time.Duration
	failOn    string
	ledger    string
	lab       assemble.Options // as given by flags
	file      string           // that holds the study
}

func (f *runFlags) add(cmd *cobra.Command) {
	addLabFlags(cmd, &f.lab)
	cli.JSONFlag(cmd)
	addFailOn(cmd, &f.failOn)
	addLedgerFlag(cmd, &f.ledger)
}

func (f *runFlags) addNew(cmd *cobra.Command) {
	f.add(cmd)
	f.addShape(cmd)
	cmd.Flags().StringVar(&f.out, "out", "", "directory of the study's record (default: linerate-NAME-TIME)")
	cmd.Flags().BoolVar(&f.profile, "profile", false, "then profile every variant: flame graph, and the functions that changed")
}

// addShape adds the flags that change the length of a study.
func (f *runFlags) addShape(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the schedule (default: the study's, or drawn)")
	cmd.Flags().Var(&f.precision, "precision", "add blocks until every variant is decided or its interval is this narrow (1% is ±1 %)")
	cmd.Flags().DurationVar(&f.within, "time", 0, "add blocks until every variant is decided, or for about this long")
	cmd.Flags().BoolVar(&f.quick, "quick", false, "fewer and shorter trials: wider intervals, sooner")
}

func newStudyRunCmd() *cobra.Command {
	var f runFlags
	var dryRun bool
	var label string
	cmd := verb("study run", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		s, err := findStudy(args[0])
		if err != nil {
			return err
		}
		if err := f.shape(cmd, &s); err != nil {
			return err
		}
		switch {
		case dryRun:
			return f.schedule(cmd, s)
		case label != "":
			return f.submit(cmd, s, args[0], label)
		}
		f.file = args[0]
		return whereRun(cmd.Context(), s, func() error {
			_, err := f.runNew(cmd, s)
			return err
		})
	})
	f.addNew(cmd)
	cmd.Flags().IntVar(&f.blocks, "blocks", 0, "blocks of every part (default: the study's)")
	cmd.Flags().StringVar(&label, "submit", "", "queue it for the testbeds of this `LABEL` instead of running it")
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "print the schedule and run nothing")
	return cmd
}

func newStudyResumeCmd() *cobra.Command {
	var f runFlags
	cmd := verb("study resume", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if err := checkFailOn(f.failOn); err != nil {
			return err
		}
		record, err := studydir.Read(args[0])
		if err != nil {
			return err
		}
		return whereRun(cmd.Context(), record.Spec, func() error {
			dir, err := studydir.Open(args[0])
			if err != nil {
				return err
			}
			defer dir.Close()
			if dir.Torn != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "the last trial was cut off; what was left of it is in %s\n", filepath.Join(dir.Path, studydir.TornFile))
			}
			return f.conduct(cmd, dir)
		})
	})
	f.add(cmd)
	return cmd
}

// shape applies the flags to a study and sets its seed.
func (f *runFlags) shape(cmd *cobra.Command, s *study.Spec) error {
	if err := checkFailOn(f.failOn); err != nil {
		return err
	}
	if _, err := testbeds.EngineNamed(f.lab.Engine, io.Discard); err != nil {
		return err // before anything is written
	}
	if f.quick {
		*s = s.Quick()
	}
	s.Profile = s.Profile || f.profile
	if cmd.Flags().Changed("blocks") {
		if f.blocks < 1 {
			return hint.Usagef("--blocks %d: a study has at least one block", f.blocks)
		}
		for i := range s.Parts {
			s.Parts[i].Blocks = f.blocks
		}
	}
	if err := f.stop(cmd, s); err != nil {
		return err
	}
	if cmd.Flags().Changed("seed") {
		s.Seed = &f.seed
	}
	if s.Seed == nil {
		drawn := uint64(rand.Uint32())
		s.Seed = &drawn
	}
	return nil
}

// schedule prints the trials that a study would run here, and the variants that it would leave out.
func (f *runFlags) schedule(cmd *cobra.Command, s study.Spec) error {
	if !s.OnMachines() && !s.OnLiveHost() {
		if err := assemble.Carries(s); err != nil {
			return err
		}
	}
	return printSchedule(cmd, s, hereWith(f.lab.AllowHost).LeftOut(s))
}

// runNew creates a study's directory and runs the study; it returns the directory's path.
func (f *runFlags) runNew(cmd *cobra.Command, s study.Spec) (path string, err error) {
	if hereWith(f.lab.AllowHost).AllWait(s) {
		return "", hint.With(hint.Usagef("everything that study %[2]s compares %[1]s with changes the whole host, which needs permission", s.Control, s.Name),
			"--allow-host-settings lets variants change what is global to the kernel; it is journalled and restored")
	}
	var bed []byte
	var sets map[string][]studydir.SetFile
	if s.OnMachines() {
		if bed, sets, err = testbeds.Gather(s, f.file); err != nil {
			return "", err
		}
		s.Testbed.File = studydir.TestbedFile
	}
	dir, err := studydir.CreateNew(f.out, s, time.Now())
	if err != nil {
		return "", err
	}
	defer dir.Close()
	if s.OnMachines() {
		if err := errors.Join(dir.Keep(studydir.TestbedFile, bed), dir.KeepSets(sets)); err != nil {
			return dir.Path, err
		}
	}
	return dir.Path, f.conduct(cmd, dir)
}

// conduct runs the remaining trials of a study, keeps its results and report up to date, and prints
// the outcome.
func (f *runFlags) conduct(cmd *cobra.Command, dir *studydir.Dir) error {
	if dir.Spec.OnLiveHost() {
		return f.resumeLive(cmd, dir, &hosts.Remote{Config: f.lab.SSHConfig, Timeout: time.Minute})
	}
	o := f.lab
	o.Spec, o.Record = dir.Spec, dir.Path
	opened, err := openLab(cmd.Context(), o)
	if err != nil {
		f.tellResume(cmd, dir)
		return err
	}
	defer opened.Close()
	env, err := recordHost(dir, opened.Facts, opened.Engine, opened.Label)
	if err != nil {
		return err
	}
	opened.Lab.Keep, opened.Lab.Looked = dir.Keep, dir.AppendTelemetry
	show := newProgress(cmd.ErrOrStderr())
	show.interim = func() (aa, widest stats.Number) { return dir.Spec.Interim(dir.Seed, dir.Trials) }
	primary, _ := study.MetricNamed(dir.Spec.Primary().Metric)
	show.points = primary.Share
	if err := studydir.WriteResults(dir.Path, study.Analyse(dir.Spec, dir.Seed, env.Resume(dir.Environment), dir.Trials)); err != nil {
		return err
	}
	outcome, runErr := opened.Lab.Run(cmd.Context(), lab.Task{Spec: dir.Spec, Seed: dir.Seed, Done: dir.Trials, Telemetry: dir.Telemetry}, dir.Append, show.update)
	show.live.End()
	env.Testbeds, env.Unavailable = outcome.Testbeds, outcome.Unavailable
	results := study.Analyse(dir.Spec, dir.Seed, env.Resume(dir.Environment), dir.Trials)
	results.Telemetry = dir.Telemetry
	if err := f.conclude(cmd, dir, results, runErr, func() { f.tellResume(cmd, dir) }); err != nil {
		return err
	}
	here := hereWith(f.lab.AllowHost)
	if here.System, here.Lacks = results.Environment.OS, nil; slices.ContainsFunc(dir.Spec.Variants, here.Waits) {
		fmt.Fprintln(cmd.ErrOrStderr(), "hint: --allow-host-settings lets variants change what is global to the kernel; it is journalled and restored")
	}
	return failOnResults(f.failOn, results)
}

// conclude writes the results of a study. It stores a finished study in the ledger and prints its
// results; for an unfinished one it calls stopped, which says how to resume.
func (f *runFlags) conclude(cmd *cobra.Command, dir *studydir.Dir, results study.Results, runErr error, stopped func()) error {
	if err := writeOutcome(dir.Path, dir.Spec, results); err != nil {
		return errors.Join(runErr, err)
	}
	if runErr != nil {
		stopped()
		return runErr
	}
	if f.ledger != assemble.NoLedger {
		noteStudy(cmd, f.ledger, dir.Path)
	}
	if err := printResults(cmd, dir.Spec, results); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(dir.Path, studydir.ReportFile))
	return err
}

// tellResume says how to resume a study that was interrupted or whose machines failed, even before
// the first trial.
func (f *runFlags) tellResume(cmd *cobra.Command, dir *studydir.Dir) {
	if _, trip := study.TripOf(dir.Trials); trip != nil {
		return // resume would refuse it
	}
	if cmd.Context().Err() != nil || dir.Spec.OnMachines() || dir.Spec.OnLiveHost() && len(dir.Trials) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s kept; continue with: linerate study resume %s%s\n", show.Plural(len(dir.Trials), "trial"), host.Word(dir.Path), hosts.SSHConfigOption(f.lab.SSHConfig))
	}
}

// hereWith returns which variants this machine's lab can try; leave says whether they may change
// the host.
func hereWith(leave bool) study.Availability {
	a := assemble.Here()
	if !leave {
		a.NoLeave = " and waits for --allow-host-settings"
	}
	return a
}

// writeOutcome writes the results and the report of a study to its directory.
func writeOutcome(path string, s study.Spec, r study.Results) error {
	if err := studydir.WriteResults(path, r); err != nil {
		return err
	}
	html, err := report.HTML(s, r)
	if err != nil {
		return err
	}
	if err := studydir.WriteReport(path, html); err != nil {
		return err
	}
	if picture := report.Picture(s, r); picture != nil {
		return studydir.WritePicture(path, picture)
	}
	return nil
}

func printResults(cmd *cobra.Command, s study.Spec, r study.Results) error {
	return cli.Print(cmd, r, func(w io.Writer) error { return report.Terminal(w, s, r, cli.StyleOf(w)) })
}

// recordHost stores the host's facts in a study's record and returns the environment derived from
// them.
func recordHost(dir *studydir.Dir, f *fact.Facts, engine, label string) (study.Environment, error) {
	env := environmentOf(f, engine, label)
	ref, err := dir.KeepFacts(f)
	env.Facts = []study.FactsRef{ref}
	return env, err
}

// environmentOf returns the environment to record for a study, without the reference to the facts.
func environmentOf(f *fact.Facts, engine, label string) study.Environment {
	env := study.EnvironmentOf(f)
	env.Engine, env.Label = engine, label
	env.Linerate, env.Command = cli.Version(), append([]string{"linerate"}, os.Args[1:]...)
	return env
}

// whereRun runs f where the study's testbed is accessible: in this machine's lab, or directly if
// the study uses other machines.
func whereRun(ctx context.Context, s study.Spec, f func() error) error {
	if s.OnMachines() || s.OnLiveHost() {
		return f()
	}
	if err := assemble.Carries(s); err != nil {
		return err
	}
	return assemble.Inside(ctx, f)
}

// openLab opens the lab for a study; a variable, for tests to replace.
var openLab = assemble.Open
