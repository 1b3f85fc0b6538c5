package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/list"
	"linerate/internal/queue"
	"linerate/internal/report"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// submittedDocument is the output of study run --submit --json.
type submittedDocument struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Study   string `json:"study"`
	Label   string `json:"label"`
	Seed    uint64 `json:"seed"`
	// Seconds is the estimated duration on one testbed.
	Seconds float64 `json:"seconds"`
	// Testbeds are the known testbeds with the label, in any state.
	Testbeds []string `json:"testbeds"`
}

// submit queues a study for the testbeds with a label.
func (f *runFlags) submit(cmd *cobra.Command, s study.Spec, file, label string) error {
	if err := queue.CheckLabel(label); err != nil {
		return err
	}
	for _, name := range []string{"out", "engine", "allow-host-settings", "ssh-config", "fail-on"} {
		if cmd.Flags().Changed(name) {
			return hint.With(hint.Usagef("--%s is set by the worker that runs the study", name), "omit it, or --submit")
		}
	}
	sub, err := submissionOf(s, file, label)
	if err != nil {
		return err
	}
	return assemble.WithQueue(cmd.Context(), f.ledger, func(q queue.Queue) error { return submitStudy(cmd, q, sub, *s.Seed) })
}

func submissionOf(s study.Spec, file, label string) (queue.Submission, error) {
	var none queue.Submission
	switch {
	case s.OnLiveHost():
		return none, hint.With(hint.Usagef("study %s runs on a live host, which is not a testbed", s.Name), "linerate study run runs it")
	case s.Profile:
		return none, hint.With(hint.Usagef("study %s asks for profiles of its variants, which workers do not take", s.Name), "write profile: false, or run it with linerate study run")
	}
	sets := map[string][]studydir.SetFile{}
	if s.OnMachines() {
		var err error
		if sets, err = testbeds.Sets(s, file); err != nil {
			return none, err
		}
		s.Testbed.File = studydir.TestbedFile // set by the worker
	}
	text, err := study.Format(s)
	if err != nil {
		return none, err
	}
	more, err := json.Marshal(sets)
	if err != nil {
		return none, err
	}
	return queue.Submission{ID: "q" + strings.ToLower(rand.Text()[:8]), Name: s.Name, Label: label, Kind: s.Testbed.Kind, Submitter: submitter(),
		Spec: text, Sets: more, Estimate: lab.Estimate(lab.Task{Spec: s, Seed: *s.Seed})}, nil
}

// submitter names the user and the machine that submit a study.
func submitter() string {
	host, _ := os.Hostname() // an empty name will do
	return operator() + "@" + host
}

func submitStudy(cmd *cobra.Command, q queue.Queue, sub queue.Submission, seed uint64) error {
	beds, err := q.Testbeds(cmd.Context())
	if err != nil {
		return err
	}
	doc := submittedDocument{Version: 1, ID: sub.ID, Study: sub.Name, Label: sub.Label, Seed: seed, Seconds: sub.Estimate.Seconds(), Testbeds: []string{}}
	fit := false
	var labels []string
	for _, b := range beds {
		if b.Label == sub.Label {
			doc.Testbeds = append(doc.Testbeds, b.Name)
			fit = fit || b.Kind == sub.Kind
		} else {
			labels = list.With(labels, b.Label)
		}
	}
	if len(doc.Testbeds) > 0 && !fit {
		return hint.With(hint.Usagef("study %s needs testbeds of kind %s; those labelled %s are of another kind", sub.Name, sub.Kind, sub.Label), "linerate study queue lists testbeds with their labels and kinds")
	}
	if err := q.Submit(cmd.Context(), sub); err != nil {
		return err
	}
	if cli.AsJSON(cmd) {
		return cli.PrintJSON(cmd.OutOrStdout(), doc)
	}
	fmt.Fprintln(cmd.OutOrStdout(), sub.ID)
	fmt.Fprintf(cmd.ErrOrStderr(), "study %s waits for %s labelled %s; it takes about %s on one\n", sub.Name, show.Plural(len(doc.Testbeds), "testbed"), sub.Label, show.Clock(sub.Estimate))
	if len(doc.Testbeds) == 0 {
		others := ""
		if len(labels) > 0 {
			others = "; labels in use: " + show.List(labels)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "no testbed has had that label yet: linerate worker --testbed FILE --label %s%s\n", sub.Label, others)
	}
	return nil
}

// queueFlags are the flags of study queue.
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
		return assemble.WithQueue(cmd.Context(), f.ledger, func(q queue.Queue) error {
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

// change makes the changes that the flags request.
func (f *queueFlags) change(cmd *cobra.Command, q queue.Queue) error {
	set := cmd.Flags().Changed
	if set("pause") && f.pause == "" {
		return hint.Usagef("--pause needs a reason, which people will see")
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
		if b.State == queue.BedLeased && b.SilentSeconds > 2*queue.DefaultPatience.Beat.Seconds() {
			holder += fmt.Sprintf(" (silent for %.0fs)", b.SilentSeconds)
		}
		rows = append(rows, []string{b.Name, b.Label, b.Kind, holder, b.Does()})
	}
	p.Table(show.Table{Header: []string{"testbed", "label", "kind", "worker", "does"}, Rows: rows})
}

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
	out = cmp.Or(out, "linerate-"+s.Name+"-"+s.ID)
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		return hint.With(fmt.Errorf("%s already exists", out), "choose another --out")
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
