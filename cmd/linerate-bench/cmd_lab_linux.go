package main

import (
	"time"

	"github.com/spf13/cobra"

	"linerate/bench/labbench"
	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/hint"
)

const benchLabLong = `Measure how well the lab of this machine tells two arms apart: what is left of
an A/A comparison when all arms take turns slice by slice, and when they are
tried one after the other; how small an effect is found that was planted (rules
that never match, a few ns each); and how often a comparison of nothing finds
something. Each phase has at least one study. 200 comparisons of nothing take
--time 20m on a quiet machine.`

// newLabCmd measures the lab's resolution.
func newLabCmd() *cobra.Command {
	var b labbench.Bench
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "the lab's resolution: A/A intervals, false alarms, planted effects",
		Long:  benchLabLong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if b.Budget < 30*time.Second || b.Budget > 10*time.Hour {
				return hint.Usagef("--time %s: from 30s to 10h", b.Budget)
			}
			return assemble.Inside(cmd.Context(), func() error {
				opened, err := assemble.Open(cmd.Context(), assemble.Options{Engine: "auto"})
				if err != nil {
					return err
				}
				b.Lab, b.Label, b.Talk = opened.Lab, opened.Label, cmd.ErrOrStderr()
				found, err := b.Run(cmd.Context())
				if err != nil {
					return err
				}
				return cli.Answer(cmd, found, found.Page)
			})
		},
	}
	cmd.Flags().DurationVar(&b.Budget, "time", 5*time.Minute, "approximate time to measure")
	cmd.Flags().Uint64Var(&b.Seed, "seed", 1, "seed of the studies' schedules")
	cli.JSONFlag(cmd)
	return cmd
}
