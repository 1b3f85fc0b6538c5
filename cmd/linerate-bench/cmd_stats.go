package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/bench/calibrate"
	"linerate/internal/cli"
)

const benchStatsLong = `Simulate benchmarks of known effect, and measure the false-positive rate, the
coverage and the power of linerate's rules, of ministat's and of benchstat's.
All rules see the same data. A claim that is not kept ends the command with
exit code 1.`

// newStatsCmd calibrates internal/stats by simulation.
func newStatsCmd() *cobra.Command {
	var rows []calibrate.Row
	var checks []calibrate.Check
	s := simulated{flag: "reps", usage: "simulated studies per line", usual: 10_000, least: 100, most: 10_000_000,
		quick: 2000, quickly: "2,000 studies per line", seed: "seed of the simulation"}
	return s.command(&cobra.Command{
		Use:      "stats",
		Short:    "false-positive rate, coverage and power by simulation, compared with ministat and benchstat",
		Long:     benchStatsLong,
		PostRunE: func(*cobra.Command, []string) error { return keptOrFail(rows, checks) },
	}, func(cmd *cobra.Command, reps int, seed uint64) (any, error) {
		err := cli.UntilStopped(cmd.Context(), func() {
			rows, checks = calibrate.Table([]int{5, 10, 20}, reps, seed), calibrate.Checks(reps, seed)
		})
		return map[string]any{"version": 1, "reps": reps, "seed": seed, "rows": rows, "checks": checks}, err
	})
}

// keptOrFail fails the command when a claim is not kept.
func keptOrFail(rows []calibrate.Row, checks []calibrate.Check) error {
	broken := 0
	for _, r := range rows {
		if !r.Kept {
			broken++
		}
	}
	for _, c := range checks {
		if !c.Within {
			broken++
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d claims are not kept", broken)
	}
	return nil
}
