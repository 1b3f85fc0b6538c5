package main

import (
	"github.com/spf13/cobra"

	"linerate/bench/rolloutbench"
	"linerate/internal/cli"
)

// newRolloutCmd returns the bench that simulates rollouts as experiments.
func newRolloutCmd() *cobra.Command {
	return simulated{flag: "rollouts", usage: "simulated rollouts of 8 to 200 hosts a world and effect; of 2,000 a tenth as many", usual: 400, least: 20, most: 100_000, seed: "seed of the simulation"}.command(verb("rollout", nil, nil), func(cmd *cobra.Command, rollouts int, seed uint64) (doc any, err error) {
		var rows []rolloutbench.Row
		err = cli.UntilStopped(cmd.Context(), func() { rows = rolloutbench.Table(rollouts, seed) })
		return map[string]any{"version": 1, "rollouts": rollouts, "seed": seed, "rows": rows}, err
	})
}
