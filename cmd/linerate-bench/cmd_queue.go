package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/labtest/pgserver"
	"linerate/internal/queue"
	"linerate/internal/show"
)

const benchQueueLong = `Run studies on simulated testbeds through the queue in PostgreSQL (started for it, in a folder of
its own), a process each worker, and kill at random moments: workers that start again
on their machine, workers whose machine is gone, and PostgreSQL. The trials and
their times are simulated, all else is what users run.

Then count: trials that were lost or recorded twice, times that two processes had
their hands on one testbed, and the longest that a testbed was idle while
blocks waited.`

// queueBench is a run of the bench.
type queueBench struct {
	workers, trials, kills int
	every, trial           time.Duration
	patience               queue.Patience
	seed                   uint64
	durable                bool // PostgreSQL syncs to the disk, as it usually does
}

// queueOutcome is the benchmark's result.
type queueOutcome struct {
	Version int     `json:"version"`
	Workers int     `json:"workers"`
	Trials  int     `json:"trials"`
	Seconds float64 `json:"seconds"`
	// Kills, of which Restarted came back where they were, Gone elsewhere, and Postgres
	// are PostgreSQL's.
	Kills     int `json:"kills"`
	Restarted int `json:"kills_worker_restarted"`
	Gone      int `json:"kills_worker_gone"`
	Postgres  int `json:"kills_postgres"`
	// BeatSeconds is between signs of life, LostSeconds until a silent worker's testbed
	// is free.
	BeatSeconds float64 `json:"beat_seconds"`
	LostSeconds float64 `json:"lost_after_seconds"`
	Lost        int     `json:"lost"`      // trials that are not recorded, or were and are no more
	Twice       int     `json:"twice"`     // trials that are recorded more than once
	TwoHands    int     `json:"two_hands"` // times that two processes had one testbed
	LongestIdle float64 `json:"longest_idle_seconds"`
	IdleBed     string  `json:"longest_idle_testbed"`
	// Leases is how often a testbed changed hands; Begun how many trials were begun, those
	// that a kill ended among them.
	Leases int64 `json:"leases"`
	Begun  int   `json:"trials_begun"`
	// LedgerStudies are the complete studies in the ledger, LedgerTrials their trials.
	LedgerStudies int  `json:"ledger_studies"`
	LedgerTrials  int  `json:"ledger_trials"`
	LedgerIntact  bool `json:"ledger_intact"`
}

func newQueueCmd() *cobra.Command {
	b := queueBench{patience: queue.DefaultPatience}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "queue", Short: "studies through the queue while workers and PostgreSQL are killed", Long: benchQueueLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := b.check(); err != nil {
				return err
			}
			out, err := b.run(cmd.Context(), cmd.ErrOrStderr())
			if errors.Is(err, pgserver.ErrMissing) {
				return hint.With(err, "apt-get install postgresql: it runs in its own directory")
			}
			if err != nil {
				return err
			}
			if err := cli.Answer(cmd, asJSON, out, out.page); err != nil {
				return err
			}
			if out.Lost+out.Twice+out.TwoHands > 0 || !out.LedgerIntact {
				return errors.New("the queue did not keep its word")
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&b.workers, "workers", 8, "workers, each with a testbed")
	fs.IntVar(&b.trials, "trials", 1000, "trials, in studies of at most 40 blocks of 5")
	fs.IntVar(&b.kills, "kills", 200, "how often something is killed")
	fs.DurationVar(&b.every, "every", 2500*time.Millisecond, "between kills, on average")
	fs.DurationVar(&b.trial, "trial", 3*time.Second, "how long a trial takes, on average")
	fs.DurationVar(&b.patience.Beat, "beat", b.patience.Beat, "between a worker's signs of life")
	fs.DurationVar(&b.patience.Lost, "lost", b.patience.Lost, "until a silent worker's testbed is free")
	fs.BoolVar(&b.durable, "durable", true, "PostgreSQL syncs to the disk, as users' do; a kill loses nothing either way")
	fs.Uint64Var(&b.seed, "seed", 1, "of what is killed when")
	fs.BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (b *queueBench) check() error {
	switch {
	case b.workers < 1 || b.workers > 64:
		return hint.Usagef("--workers %d is not between 1 and 64", b.workers)
	case b.trials < armsEach || b.trials > 100_000 || b.trials%armsEach > 0:
		return hint.Usagef("--trials %d is no multiple of %d up to 100000", b.trials, armsEach)
	case b.kills < 0 || b.every <= 0 || b.trial <= 0:
		return hint.Usagef("--kills, --every and --trial are not below zero")
	case b.patience.Beat <= 0 || b.patience.Lost < 3*b.patience.Beat:
		return hint.Usagef("--lost %v is not at least three times --beat %v", b.patience.Lost, b.patience.Beat)
	}
	return nil
}

// page tells it to people.
func (o queueOutcome) page(p *show.Page) {
	p.Line(fmt.Sprintf("%d trials, %d workers, %d kills in %.0f s: %d of workers that started again, %d of workers whose machine was gone, %d of PostgreSQL",
		o.Trials, o.Workers, o.Kills, o.Seconds, o.Restarted, o.Gone, o.Postgres))
	p.Line("")
	p.Table(show.Table{Header: []string{"lost", "recorded twice", "in two hands", "longest idle"}, Right: []bool{true, true, true, true},
		Rows: [][]string{{fmt.Sprint(o.Lost), fmt.Sprint(o.Twice), fmt.Sprint(o.TwoHands), fmt.Sprintf("%.1f s (%s)", o.LongestIdle, o.IdleBed)}}})
	p.Line("")
	p.Line(fmt.Sprintf("%d trials were begun for that, under %d leases; the ledger has %d studies with %d trials.", o.Begun, o.Leases, o.LedgerStudies, o.LedgerTrials))
}
