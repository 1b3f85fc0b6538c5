package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/lab/labbench"
)

const benchLabLong = `Measure how well the lab of this machine tells two arms apart: what is left of
an A/A comparison when all arms take turns slice by slice, and when they are
tried one after the other, in the same minutes; how often a comparison of
nothing finds something; how small an effect is found that was planted (rules
that never match, a few ns each); and the same with another program on the
measuring CPU. Comparisons of nothing are of pairs of arms, each arm in one pair
only, so that none shares a control with another; about 200 take --time 20m
on a quiet machine. A study is begun only if it will end in its phase's time, as
far as the last one tells; the first of each phase always is, so that a minute
takes longer. With --keep FILE every study is kept as it ends: the same command
goes on after an interrupt, and with a longer --time after it was complete.`

func newBenchLabCmd() *cobra.Command {
	var long time.Duration
	var asJSON bool
	var engine, keep string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "measure the lab's resolution: A/A intervals, false alarms, planted effects",
		Long:  benchLabLong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if long < 30*time.Second || long > 10*time.Hour {
				return hint.Usagef("--time %s: from 30s to 10h", long)
			}
			return assemble.Inside(cmd.Context(), func() error {
				opened, err := openLab(cmd.Context(), assemble.Options{Engine: engine})
				if err != nil {
					return err
				}
				b, err := labbench.New(opened.Lab, opened.Label, long, keep, seed, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				found, err := b.Run(cmd.Context())
				if err != nil {
					return err
				}
				return errors.Join(cli.Answer(cmd, asJSON, found, found.Page), context.Cause(cmd.Context()))
			})
		},
	}
	cmd.Flags().DurationVar(&long, "time", 5*time.Minute, "approximate time to measure")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the studies' schedules")
	cmd.Flags().StringVar(&keep, "keep", "", "file to keep every study in as it ends, and to go on from")
	addEngineFlag(cmd, &engine)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}
