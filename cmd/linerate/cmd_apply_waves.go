package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/fleet/page"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/rollout"
	"linerate/internal/show"
)

func (f *applyFlags) options() (o fleet.WaveOptions, err error) {
	w := &f.waves
	o = fleet.WaveOptions{Steps: w.steps, Parallel: w.parallel, Within: f.within.Seconds(), Chosen: f.chosen, Soak: w.soak.Seconds(), Checks: f.checks, Timeout: w.timeout.Seconds(), Tries: w.tries, Skip: w.skip}
	if _, err = fleet.ParseSteps(w.steps); err != nil {
		return o, err
	}
	if _, err = fleet.ParsePart(w.skip); err != nil {
		return o, err
	}
	if _, err = parseChecks(f.checks, nil); err != nil {
		return o, err
	}
	switch {
	case f.reboot || f.noWait:
		return o, hint.Usagef("--reboot and --no-wait work on a single host")
	case w.parallel < 1 || w.parallel > 1000 || w.tries < 1 || w.tries > 20:
		return o, hint.Usagef("--parallel is from 1 to 1000, --check-tries from 1 to 20")
	case w.timeout <= 0 || w.soak < 0:
		return o, hint.Usagef("--check-timeout must be above zero and --soak not negative")
	case f.within < apply.MinWindow || f.within > apply.MaxWindow:
		return o, hint.Usagef("--confirm-within %s: want %s to %s", f.within, apply.MinWindow, apply.MaxWindow)
	case f.within < w.soak+apply.MinWindow:
		return o, hint.With(hint.Usagef("--soak %s leaves no time to confirm within %s", w.soak, f.within), "give hosts longer: --confirm-within %s", 2*w.soak+time.Minute)
	}
	return o, nil
}

func (f *applyFlags) runWaves(cmd *cobra.Command, args []string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return hint.With(hint.Usagef("unexpected argument %q", args[1]), "hosts of a wave are those of its directory; --limit narrows them")
	}
	if f.waves.resume != "" {
		return f.resumeWave(cmd, args)
	}
	if len(args) == 0 {
		return hint.With(hint.Usagef("no directory of plans is given"), "linerate plan --hosts FILE --out DIR makes one, linerate apply DIR applies it")
	}
	dir, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	planned, err := hosts.ReadPlans(dir)
	if err != nil {
		return err
	}
	if planned, err = f.waves.only(planned); err != nil {
		return err
	}
	if o, err = hosts.Reached(o, &f.Remote); err != nil {
		return err
	}
	begin := time.Now()
	stand, err := f.waves.measure.divide(cmd, dir, planned, &o, begin)
	if err != nil {
		return err
	}
	job := hosts.Wave{Wave: fleet.Wave{Start: begin, From: dir, Hosts: len(stand), Options: o}, Remote: f.Remote}
	if err := writeWaves(cmd.ErrOrStderr(), planned, stand, o); err != nil {
		return err
	}
	if o.Measure != nil {
		if err := job.Try(cmd.Context(), stand); err != nil {
			return err
		}
	}
	if f.dryRun {
		return f.lookAtAll(cmd, &job, stand)
	}
	if len(stand) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "the plans have nothing to do")
		return nil
	}
	if yes, err := f.agreed(cmd, fmt.Sprintf("Apply this to %s?", show.Plural(len(stand), "host"))); err != nil || !yes {
		return err
	}
	return assemble.WithLedger(cmd.Context(), f.waves.ledger, func(s ledger.Store) error {
		if job.ID, err = newID(); err != nil {
			return err
		}
		job.Store = s
		if err := job.Store.BeginWave(cmd.Context(), job.Wave, stand...); err != nil {
			return err
		}
		return f.goThrough(cmd, &job, stand)
	})
}

// only keeps the plans of hosts that match --limit.
func (w *waveFlags) only(planned []fleet.Planned) ([]fleet.Planned, error) {
	targets, err := fleet.Limit(list.Map(planned, func(p fleet.Planned) fleet.Target { return fleet.Target{Name: p.Name} }), w.limit)
	kept := map[string]bool{}
	for _, t := range targets {
		kept[t.Name] = true
	}
	return list.Filter(planned, func(p fleet.Planned) bool { return kept[p.Name] }), err
}

// agreed asks the question, unless --yes or --dry-run is given.
func (f *applyFlags) agreed(cmd *cobra.Command, question string) (bool, error) {
	if f.yes || f.dryRun {
		return true, nil
	}
	return cli.Confirm(cmd, question)
}

// resumeWave resumes a wave with its original options.
func (f *applyFlags) resumeWave(cmd *cobra.Command, args []string) error {
	for _, name := range append([]string{"measure", "limit", "waves", "check", "parallel", "soak", "max-skipped", "confirm-within", "check-timeout", "check-tries", "dry-run"}, ofMeasure...) {
		if cmd.Flags().Changed(name) {
			return hint.With(hint.Usagef("--%s was fixed when the wave began", name), "leave it out, or begin another wave")
		}
	}
	id := f.waves.resume
	if id == "last" && len(args) == 1 {
		id = args[0]
	}
	return withWave(cmd.Context(), f.waves.ledger, id, func(s ledger.Store, w fleet.Wave, stand []fleet.WaveEvent) error {
		switch w.Outcome {
		case fleet.WaveDone, fleet.WaveUndone:
			return hint.With(hint.Usagef("the wave %s is %s", w.ID, w.Outcome), "begin another: linerate apply %s", w.From)
		}
		job := hosts.Wave{Wave: w, Remote: hosts.Again(w.Options, f.Remote, cmd.Flags().Changed), Store: s}
		if err := s.EndWave(cmd.Context(), w.ID, time.Now(), fleet.WaveRuns, ""); err != nil {
			return err
		}
		return f.goThrough(cmd, &job, stand)
	})
}

// goThrough runs a wave and prints the outcome.
func (f *applyFlags) goThrough(cmd *cobra.Command, job *hosts.Wave, stand []fleet.WaveEvent) error {
	talk := &waveTalk{w: cmd.ErrOrStderr(), quiet: cli.Quiet(cmd.ErrOrStderr())}
	job.Say = talk.say
	if t := job.Options.Measure; t != nil {
		job.Measuring, talk.measured = talk.measuring(t), true
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wave %s\n", job.ID)
	err := job.Run(cmd.Context(), stand)
	if err != nil && errors.Is(cmd.Context().Err(), context.Canceled) {
		err = hint.Left(hint.With(fmt.Errorf("the wave is interrupted: %w", context.Canceled), "unconfirmed changes are reverted; continue with linerate apply --resume=%s", job.ID))
	} else if err != nil && hint.Of(err) == "" {
		err = hint.Left(hint.With(err, "fix it, then continue with linerate apply --resume=%s; linerate rollback --wave %s reverts what was confirmed", job.ID, job.ID))
	}
	_, unprinted := printWave(cmd, job.Store, job.ID)
	return errors.Join(unprinted, err)
}

// lookAtAll performs a dry run on all hosts.
func (f *applyFlags) lookAtAll(cmd *cobra.Command, job *hosts.Wave, stand []fleet.WaveEvent) error {
	var mu sync.Mutex
	would, skipped := 0, map[string]string{}
	job.DryRun = func(string, apply.Transaction) { mu.Lock(); would++; mu.Unlock() }
	job.Say = func(p rollout.Progress) {
		if p.Host.State == fleet.WaveSkipped {
			mu.Lock()
			skipped[p.Host.Name] = p.Host.Text
			mu.Unlock()
		}
	}
	if err := job.Run(cmd.Context(), stand); err != nil {
		return err
	}
	if cli.AsJSON(cmd) {
		doc := waveDocument{Version: fleetVersion, Wave: job.Wave, Counts: map[fleet.WaveState]int{}, Hosts: stand}
		for i := range stand {
			if why, ok := skipped[stand[i].Name]; ok {
				stand[i].State, stand[i].Text = fleet.WaveSkipped, why
			}
		}
		doc.Counts = fleet.CountStates(stand)
		return cli.PrintJSON(cmd.OutOrStdout(), doc)
	}
	page := show.NewPage(cli.StyleOf(cmd.OutOrStdout()))
	page.Line(fmt.Sprintf("%s could be changed as planned, %s would be skipped. Nothing was changed.", show.Plural(would, "host"), show.Count(len(skipped))))
	for _, h := range stand {
		if why, ok := skipped[h.Name]; ok {
			page.Paragraph("  ", "    ", show.Clean(h.Name)+": "+why)
		}
	}
	return page.Flush(cmd.OutOrStdout())
}

// writeWaves lists the waves and their changes for the user who must agree to them.
func writeWaves(w io.Writer, planned []fleet.Planned, stand []fleet.WaveEvent, o fleet.WaveOptions) error {
	p := show.NewPage(cli.StyleOf(w))
	names := map[int][]string{}
	in := map[string]bool{}
	last := 0
	for _, h := range stand {
		names[h.Step] = append(names[h.Step], show.Clean(h.Name))
		in[h.Name] = true
		last = max(last, h.Step)
	}
	for step := 1; step <= last; step++ {
		p.Paragraph(fmt.Sprintf("%s %d: ", stepWord(o.Measure != nil), step), "        ", show.Plural(len(names[step]), "host")+": "+page.Some(names[step], 8))
	}
	if o.Measure != nil {
		p.Paragraph("", "  ", o.Measure.Design())
	}
	page.Plans(p, fleet.Summarise(slices.DeleteFunc(slices.Clone(planned), func(p fleet.Planned) bool { return !in[p.Name] })))
	if out := len(planned) - len(stand); out > 0 {
		p.Line(fmt.Sprintf("%s in no wave: without a plan, with nothing to do, or behind --waves %s", show.Plural(out, "host"), o.Steps))
	}
	return p.Flush(w)
}

// stepWord names the hosts changed together: if measured, half of a wave and half of the next.
func stepWord(measured bool) string {
	if measured {
		return "step"
	}
	return "wave"
}
