package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/bench/calibrate"
	"linerate/internal/cli"
	"linerate/internal/list"
)

// newStatsCmd returns the bench that calibrates internal/stats by simulation.
func newStatsCmd() *cobra.Command {
	var rows []calibrate.Row
	var checks []calibrate.Check
	s := simulated{flag: "reps", usage: "simulated studies per line", usual: 10_000, least: 100, most: 10_000_000,
		quick: 2000, quickly: "2,000 studies per line", seed: "seed of the simulation"}
	cmd := s.command(verb("stats", nil, nil), func(cmd *cobra.Command, reps int, seed uint64) (any, error) {
		err := cli.UntilStopped(cmd.Context(), func() {
			rows, checks = calibrate.Table([]int{5, 10, 20}, reps, seed), calibrate.Checks(reps, seed)
		})
		return map[string]any{"version": 1, "reps": reps, "seed": seed, "rows": rows, "checks": checks}, err
	})
	cmd.PostRunE = func(*cobra.Command, []string) error { return keptOrFail(rows, checks) }
	return cmd
}

// keptOrFail returns an error if a claim does not hold.
func keptOrFail(rows []calibrate.Row, checks []calibrate.Check) error {
	broken := list.Count(rows, func(r calibrate.Row) bool { return !r.Kept }) + list.Count(checks, func(c calibrate.Check) bool { return !c.Within })
	if broken > 0 {
		return fmt.Errorf("%d claims do not hold", broken)
	}
	return nil
}
