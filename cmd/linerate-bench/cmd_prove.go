package main

import (
	"github.com/spf13/cobra"

	"linerate/bench/provebench"
	"linerate/internal/cli"
	"linerate/internal/hint"
)

const benchProveLong = `Simulate days of a live host (daily rhythm, autocorrelation, heavy tails, bursts,
carry-over, effects a window late), and measure what linerate prove says of a setting that does nothing,
and of one that lowers the metric by 5 %: its false positives, the coverage of its
intervals, its power, how often it turns a gain into harm and judges an effect
to be late, next to a comparison of before with after and a t-test over
the same windows. Then how often the guardrail ends a day without harm, and how
many treated windows it takes to end one with harm; and how those on requests that
stay away do, with a request a minute as with many a look.

With --per connection it simulates studies in which each connection draws its arm: clients
with many connections or few, heavy-tailed durations, drift, and a bottleneck that the arms
share, where what one connection gains the others lose.`

// newProveCmd simulates the switchback design.
func newProveCmd() *cobra.Command {
	s := simulated{flag: "studies", usage: "simulated studies of each shape", usual: 2000, least: 100, most: 1_000_000, seed: "seed of the simulation"}
	per := ""
	cmd := s.command(&cobra.Command{
		Use:   "prove",
		Short: "false-positive rate, coverage and guardrails of studies on live hosts, by simulation",
		Long:  benchProveLong,
	}, func(cmd *cobra.Command, studies int, seed uint64) (doc any, err error) {
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
