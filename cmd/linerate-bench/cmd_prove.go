package main

import (
	"github.com/spf13/cobra"

	"linerate/bench/provebench"
	"linerate/internal/cli"
	"linerate/internal/hint"
)

// newProveCmd returns the bench that simulates the switchback design.
func newProveCmd() *cobra.Command {
	s := simulated{flag: "studies", usage: "simulated studies of each shape", usual: 2000, least: 100, most: 1_000_000, seed: "seed of the simulation"}
	per := ""
	cmd := s.command(verb("prove", nil, nil), func(cmd *cobra.Command, studies int, seed uint64) (doc any, err error) {
		switch per {
		case "":
		case "connection":
			var crowds []provebench.CrowdRow
			err = cli.UntilStopped(cmd.Context(), func() { crowds = provebench.Connections(studies, seed) })
			return map[string]any{"version": 1, "studies": studies, "seed": seed, "rows": crowds}, err
		default:
			return nil, hint.Usagef("--per %s: not known; known: connection", per)
		}
		var rows []provebench.Row
		var guards []provebench.Guard
		var silences []provebench.Silence
		err = cli.UntilStopped(cmd.Context(), func() {
			rows, guards = provebench.Table(studies, seed), provebench.Guards(studies/4, seed)
			silences = provebench.Silences(studies/10, seed)
		})
		rate, coverage := provebench.Claims(rows)
		return map[string]any{"version": 1, "studies": studies, "seed": seed,
			"false_positive_rate": rate, "coverage": coverage, "rows": rows, "guardrails": guards, "silences": silences}, err
	})
	cmd.Flags().StringVar(&per, "per", "", "connection: studies in which each connection draws its arm")
	return cmd
}
