package main

import (
	"github.com/spf13/cobra"

	"linerate/bench/rolloutbench"
	"linerate/internal/cli"
)

// newRolloutCmd simulates rollouts that are experiments.
func newRolloutCmd() *cobra.Command {
	return simulated{flag: "rollouts", usage: "simulated rollouts of 20 to 200 hosts a world and effect; of 2,000 a tenth as many", usual: 400, least: 20, most: 100_000, seed: "seed of the simulation"}.command(&cobra.Command{
		Use:   "rollout",
		Short: "bias, coverage, false stops and hosts harmed of measured rollouts, by simulation",
		Long: `Simulate rollouts by linerate apply --measure over fleets of 20 to 2,000 hosts: hosts that
differ, strata of unequal size whose trends differ, a trend that all share, hosts that drift,
effects that differ from host to host, and effects that build up from period to period. Each host's
period scatters by 4 %, and a wave must exclude harm of 5 %.

It prints how often plans without effect are stopped for harm, or held because harm is not excluded;
of a gain of 5 %, the coverage of its interval, the bias, and how often it is found; and of
harm of 5, 10 and 30 %, how often it ends the rollout and how many hosts had the plan then.`,
	}, func(cmd *cobra.Command, rollouts int, seed uint64) (doc any, err error) {
		var rows []rolloutbench.Row
		err = cli.UntilStopped(cmd.Context(), func() { rows = rolloutbench.Table(rollouts, seed) })
		return map[string]any{"version": 1, "rollouts": rollouts, "seed": seed, "rows": rows}, err
	})
}
