package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/queue"
	"linerate/internal/report"
	"linerate/internal/show"
	"linerate/internal/studydir"
)

// queueFlags are those of study queue.
type queueFlags struct {
	ledger string
	all    bool
	pause  string
	goOn   bool
	free   string
	cancel string
	fetch  string
	out    string
}

func newStudyQueueCmd() *cobra.Command {
	var f queueFlags
	cmd := verb("study queue", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return ledgers.WithQueue(cmd.Context(), f.ledger, func(q queue.Queue) error {
			switch {
			case f.fetch != "":
				return fetchStudy(cmd, q, f.fetch, f.out)
			case f.cancel != "":
				return cancelStudy(cmd, q, f.cancel)
			}
			if err := f.change(cmd, q); err != nil {
				return err
			}
			doc, err := queue.Look(cmd.Context(), q, f.all)
			if err != nil {
				return err
			}
			return cli.Answer(cmd, doc, func(p *show.Page) { queuePage(p, doc) })
		})
	})
	addLedgerFlag(cmd, &f.ledger)
	cmd.Flags().BoolVar(&f.all, "all", false, "include studies that have ended")
	cli.JSONFlag(cmd)
	cmd.Flags().StringVar(&f.pause, "pause", "", "start no new blocks, for this `REASON`")
	cmd.Flags().BoolVar(&f.goOn, "continue", false, "start blocks again after --pause")
	cmd.Flags().StringVar(&f.free, "free", "", "release a `TESTBED` from quarantine")
	cmd.Flags().StringVar(&f.cancel, "cancel", "", "cancel the study with this `ID`")
	cmd.Flags().StringVar(&f.fetch, "fetch", "", "write the directory of the study with this `ID`")
	cmd.Flags().StringVar(&f.out, "out", "", "directory that --fetch makes (default: linerate-NAME-ID)")
	cmd.MarkFlagsMutuallyExclusive("pause", "continue", "fetch", "cancel")
	return cmd
}

// change does what the flags ask for.
func (f *queueFlags) change(cmd *cobra.Command, q queue.Queue) error {
	set := cmd.Flags().Changed
	if set("pause") && f.pause == "" {
		return hint.Usagef("--pause needs a reason that people will see")
	}
	if set("pause") || f.goOn {
		if err := q.Brake(cmd.Context(), f.pause); err != nil {
			return err
		}
	}
	if f.free == "" {
		return nil
	}
	err := q.Free(cmd.Context(), f.free)
	if errors.Is(err, queue.ErrNotFound) {
		beds, err := q.Testbeds(cmd.Context())
		if err != nil {
			return err
		}
		names := list.Map(beds, func(b queue.Testbed) string { return b.Name })
		return hint.Unknown("testbed", f.free, names)
	}
	return err
}

func queuePage(p *show.Page, doc queue.Document) {
	if doc.Paused != "" {
		p.Line(p.Bold("paused: " + doc.Paused))
		p.Line("")
	}
	if len(doc.Studies) == 0 {
		p.Line("no study waits or runs")
	} else {
		var rows [][]string
		for _, s := range doc.Studies {
			how := string(s.State)
			if s.Why != "" {
				how += ": " + s.Why
			}
			rows = append(rows, []string{s.ID, s.Name, s.Label, fmt.Sprintf("%d/%d", s.Done, s.Blocks), fmt.Sprint(s.Running), fmt.Sprint(s.Trials),
				s.Submitter, s.Submitted.Format("2006-01-02 15:04"), how})
		}
		p.Table(show.Table{Header: []string{"study", "name", "testbeds", "blocks", "running", "trials", "submitted by", "on (UTC)", "state"},
			Right: []bool{false, false, false, true, true, true}, Rows: rows})
	}
	p.Line("")
	if len(doc.Testbeds) == 0 {
		p.Line("no testbed yet: linerate worker --testbed lab.yaml")
		return
	}
	var rows [][]string
	for _, b := range doc.Testbeds {
		holder := b.Holder
		if b.State == queue.BedLeased && b.Silent > 2*queue.DefaultPatience.Beat {
			holder += fmt.Sprintf(" (silent for %s)", b.Silent.Round(time.Second))
		}
		rows = append(rows, []string{b.Name, b.Label, b.Kind, holder, b.Does()})
	}
	p.Table(show.Table{Header: []string{"testbed", "label", "kind", "worker", "does"}, Rows: rows})
}

// cancelStudy ends a submitted study.
func cancelStudy(cmd *cobra.Command, q queue.Queue, id string) error {
	s, err := q.Study(cmd.Context(), id)
	if err != nil {
		return err
	}
	if err := q.Cancel(cmd.Context(), s.ID, ""); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "study %s (%s) is cancelled with %s recorded\n", s.Name, s.ID, show.Plural(s.Trials, "trial"))
	return nil
}

func fetchStudy(cmd *cobra.Command, q queue.Queue, id, out string) error {
	s, err := q.Study(cmd.Context(), id)
	if err != nil {
		return err
	}
	if out == "" {
		out = "linerate-" + s.Name + "-" + s.ID
	}
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		return hint.With(fmt.Errorf("%s is there already", out), "choose another --out")
	}
	files, err := q.Record(cmd.Context(), s.ID)
	if err != nil {
		return err
	}
	r, err := queue.ReadRecord(files, out)
	if err != nil {
		return err
	}
	if err := studydir.Write(out, files); err != nil {
		return err
	}
	results := derive(cmd, r)
	html, err := report.HTML(r.Spec, results)
	if err != nil {
		return err
	}
	if err := studydir.WriteReport(out, html); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s of study %s (%s) in %s\n", show.Plural(len(r.Trials), "trial"), s.Name, s.State, filepath.Join(out, studydir.ReportFile))
	return nil
}
