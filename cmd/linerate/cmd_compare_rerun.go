package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/queues"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/study/record"
)

// rerunFlags say whether and where both states of a suspected change take turns.
type rerunFlags struct {
	here      bool
	label     string
	out       string
	allowHost bool
}

func (f *rerunFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.here, "rerun", false, "let both states of each suspected change take turns here, and take the verdict into the ledger")
	cmd.Flags().StringVar(&f.label, "submit", "", "queue that for the testbeds of a `LABEL`")
	cmd.Flags().StringVar(&f.out, "out", "", "directory of the re-runs' records (default: where you are)")
	addHostSettings(cmd, &f.allowHost)
}

// prove runs or queues what was not yet run. again is set where the ledger has more than
// before.
func (f *rerunFlags) prove(cmd *cobra.Command, place string, all *ledger.Changes) (again bool, failed error) {
	if f.label != "" {
		return false, f.submit(cmd, place, all)
	}
	if !f.here {
		return false, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return false, err
	}
	for _, r := range all.Reruns {
		switch {
		case r.Claimed:
			continue
		case r.Host != name && !r.Spec.OnMachines():
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is not run: the study ran on %s, this is %s; run it there, or leave it to workers with --submit LABEL\n", r.Spec.Name, r.Host, name)
			continue
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", r.Spec.Question)
		if err := f.run(cmd, place, r); err != nil {
			failed = errors.Join(failed, fmt.Errorf("re-run %s: %w", r.Spec.Name, err))
			continue
		}
		again = true
	}
	return again, failed
}

// run runs a study as study run does, talking where progress goes.
func (f *rerunFlags) run(cmd *cobra.Command, place string, r ledger.Rerun) error {
	talk := &cobra.Command{}
	talk.SetContext(cmd.Context())
	talk.SetOut(cmd.ErrOrStderr())
	talk.SetErr(cmd.ErrOrStderr())
	run := runFlags{engine: "auto", allowHost: f.allowHost, ledger: place, file: filepath.Join(r.Path, record.SpecFile)}
	if f.out != "" {
		run.out = filepath.Join(f.out, r.Spec.Name)
	}
	spec := r.Spec
	seed := uint64(rand.Uint32())
	spec.Seed = &seed
	return whereRun(cmd.Context(), spec, func() error {
		_, err := run.runNew(talk, spec)
		return err
	})
}

// submit queues what neither was run nor waits already.
func (f *rerunFlags) submit(cmd *cobra.Command, place string, all *ledger.Changes) error {
	if err := queue.CheckLabel(f.label); err != nil {
		return err
	}
	if f.here {
		return hint.Usagef("--rerun runs here, --submit leaves it to workers: give one of them")
	}
	return queues.With(cmd.Context(), place, func(q queue.Queue) error {
		waiting, err := q.Studies(cmd.Context(), false)
		if err != nil {
			return err
		}
		for _, r := range all.Reruns {
			if r.Claimed || slices.ContainsFunc(waiting, func(s queue.Study) bool { return s.Name == r.Spec.Name && !s.State.Ended() }) {
				continue
			}
			spec := r.Spec
			seed := uint64(rand.Uint32())
			spec.Seed = &seed
			sub, err := submissionOf(spec, filepath.Join(r.Path, record.SpecFile), f.label)
			if err != nil {
				return err
			}
			if err := q.Submit(cmd.Context(), sub); err != nil {
				return fmt.Errorf("queue %s: %w", spec.Name, err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "queued as %s for testbeds %s: %s\n", sub.ID, f.label, spec.Question)
		}
		return nil
	})
}
