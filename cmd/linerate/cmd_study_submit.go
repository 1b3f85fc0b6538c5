package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/queue"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// submittedDocument is what study run --submit --json prints.
type submittedDocument struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Study   string `json:"study"`
	Label   string `json:"label"`
	Seed    uint64 `json:"seed"`
	// Seconds is about what it takes on one testbed.
	Seconds float64 `json:"seconds"`
	// Testbeds are those of the label that are known, whatever their state.
	Testbeds []string `json:"testbeds"`
}

// submit queues a study for the testbeds of a label.
func (f *runFlags) submit(cmd *cobra.Command, s study.Spec, file, label string) error {
	if err := queue.CheckLabel(label); err != nil {
		return err
	}
	for _, name := range []string{"out", "engine", "allow-host-settings", "ssh-config", "fail-on"} {
		if cmd.Flags().Changed(name) {
			return hint.With(hint.Usagef("--%s is up to the worker that runs the study", name), "omit it, or --submit")
		}
	}
	sub, err := submissionOf(s, file, label)
	if err != nil {
		return err
	}
	return ledgers.WithQueue(cmd.Context(), f.ledger, func(q queue.Queue) error { return submitStudy(cmd, q, sub, *s.Seed) })
}

// submissionOf makes a submission of a study.
func submissionOf(s study.Spec, file, label string) (queue.Submission, error) {
	var none queue.Submission
	switch {
	case s.OnLiveHost():
		return none, hint.With(hint.Usagef("study %s is of a live host, which is no testbed", s.Name), "linerate study run runs it")
	case s.Profile:
		return none, hint.With(hint.Usagef("study %s wants to look into its variants, which workers do not", s.Name), "write profile: false, or run it with linerate study run")
	}
	sets := map[string][]studydir.SetFile{}
	if s.OnMachines() {
		var err error
		if sets, err = testbeds.Sets(s, file); err != nil {
			return none, err
		}
		s.Testbed.File = studydir.TestbedFile // the worker's
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
	name := os.Getenv("SUDO_USER")
	if u, err := user.Current(); err == nil && name == "" {
		name = u.Username
	}
	host, _ := os.Hostname() // "" is a name too
	return name + "@" + host
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
		} else if !slices.Contains(labels, b.Label) {
			labels = append(labels, b.Label)
		}
	}
	if len(doc.Testbeds) > 0 && !fit {
		return hint.With(hint.Usagef("study %s needs testbeds of kind %s, and those labelled %s are of another", sub.Name, sub.Kind, sub.Label), "linerate study queue lists testbeds with their labels and kinds")
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
