package main

import (
	"github.com/spf13/cobra"

	"linerate/bench/tunebench"
	"linerate/internal/cli"
)

// tuneBench is the output of the bench.
type tuneBench struct {
	Version int    `json:"version"`
	Studies int    `json:"studies"` // per method and noise level, and for the null
	Seed    uint64 `json:"seed"`
	// NullWinnerRate is the share of null searches in which linerate reports a winner; Short is by
	// how many points, at worst, it gains less than the best other method.
	NullWinnerRate float64         `json:"null_winner_rate"`
	Short          float64         `json:"short_points"`
	Rows           []tunebench.Row `json:"rows"`
}

func newTuneCmd() *cobra.Command {
	s := simulated{flag: "studies", usage: "simulated searches of each method at each noise", usual: 400, least: 10, most: 1_000_000, seed: "seed of the simulation"}
	return s.command(verb("tune", nil, nil), func(cmd *cobra.Command, studies int, seed uint64) (any, error) {
		var doc tuneBench
		var failed error
		err := cli.UntilStopped(cmd.Context(), func() { doc, failed = simulateTune(studies, seed) })
		if err == nil {
			err = failed
		}
		return doc, err
	})
}

func simulateTune(studies int, seed uint64) (tuneBench, error) {
	doc := tuneBench{Version: 1, Studies: studies, Seed: seed}
	methods := tunebench.Methods()
	if tunebench.HasOptuna() {
		methods = append(methods, tunebench.Optuna)
	}
	var err error
	doc.Rows, err = tunebench.Table(studies, seed, methods)
	for _, r := range doc.Rows {
		if r.Active == 0 {
			doc.NullWinnerRate = r.Methods[0].Shipped
		}
		for _, m := range r.Methods {
			doc.Short = max(doc.Short, m.GainPercent-r.Methods[0].GainPercent)
		}
	}
	return doc, err
}
