package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/studydir"
)

// doubting returns a function that prints a warning; the answer remains valid.
func doubting(cmd *cobra.Command) func(error) {
	return func(err error) { fmt.Fprintln(cmd.ErrOrStderr(), err) }
}

// noteStudy adds a finished study to the ledger. The study's directory is the record, so failure to
// add it is only a warning. The context of Ctrl-C is ignored.
func noteStudy(cmd *cobra.Command, flag, dir string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), 30*time.Second)
	defer cancel()
	err := assemble.WithLedger(ctx, flag, func(s ledger.Store) error {
		_, err := addStudyDir(ctx, s, dir)
		return err
	})
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "not in the ledger: %v\nhint: linerate import %s\n", err, dir)
	}
}

// derive analyses the trials of a record and prints warnings about the record.
func derive(cmd *cobra.Command, rec *record.Record) study.Results {
	r := rec.Results()
	for _, w := range rec.Warnings(r) {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: %s\n", rec.Name, w)
	}
	if !r.Complete && !rec.Spec.OnLiveHost() { // a live study's verdicts hold whenever it is stopped
		r.NoVerdicts(rec.Spec)
	}
	return r
}

func printEvidence(w io.Writer, lines []ledger.Line) error {
	page := show.NewPage(cli.StyleOf(w))
	evidence.Print(page, ledger.Rows(lines))
	return page.Flush(w)
}

// addFilterFlags gives a command the flags that narrow a query.
func addFilterFlags(cmd *cobra.Command, f *ledger.Filter) {
	fs := cmd.Flags()
	fs.StringVar(&f.Tunable, "tunable", "", "setting that was changed, any unit number (dev.igb.0.fc)")
	fs.StringVar(&f.Hardware, "hardware", "", "CPU or machine, a part of its name")
	fs.StringVar(&f.NIC, "nic", "", "network card, a part of its name")
	fs.StringVar(&f.Driver, "driver", "", "driver of the network card")
	fs.StringVar(&f.OS, "os", "", "operating system")
	fs.StringVar(&f.Release, "release", "", "beginning of the release")
	fs.StringVar(&f.Workload, "workload", "", "workload, a part of its description")
	fs.StringVar(&f.Study, "study", "", "study: name, part of its place, or beginning of its identifier")
	fs.StringVar(&f.Metric, "metric", "", "metric")
	fs.StringVar((*string)(&f.Verdict), "verdict", "", "one of "+strings.Join(stats.VerdictNames(), ", "))
	fs.BoolVar(&f.Primary, "primary", false, "primary metrics only")
	fs.BoolVar(&f.Superseded, "superseded", false, "also studies that a later import replaced")
}

func addStudyDir(ctx context.Context, s ledger.Store, dir string) (added int, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	r, err := studydir.Read(abs)
	if errors.Is(err, record.ErrNoStudy) {
		return 0, hint.With(err, "a study's directory holds study.yaml, trials.jsonl and results.json")
	}
	if err != nil {
		return 0, err
	}
	b, err := ledger.OfRecord(r, abs)
	if errors.Is(err, ledger.ErrUnfinished) {
		return 0, hint.With(err, "finish it: linerate study resume %s", dir)
	}
	if err != nil {
		return 0, err
	}
	return s.Append(ctx, b)
}
