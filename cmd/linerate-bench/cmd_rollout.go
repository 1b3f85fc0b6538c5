package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/bench/rolloutbench"
	"linerate/internal/cli"
	"linerate/internal/show"
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
	}, func(cmd *cobra.Command, rollouts int, seed uint64) (doc any, page func(*show.Page), err error) {
		var rows []rolloutbench.Row
		err = cli.UntilStopped(cmd.Context(), func() { rows = rolloutbench.Table(rollouts, seed) })
		return map[string]any{"version": 1, "rollouts": rollouts, "seed": seed, "rows": rows}, func(p *show.Page) { writeRollouts(p, rollouts, rows) }, err
	})
}

func writeRollouts(page *show.Page, rollouts int, rows []rolloutbench.Row) {
	page.Line(fmt.Sprintf("%d simulated rollouts a row; a claim is at most 5 %% false stops and 95 %% coverage.", rollouts))
	t := show.Table{Header: []string{"fleet", "hosts", "false stops", "held", "coverage", "bias", "finds 5 %"}, Right: []bool{false, true, true, true, true, true, true, true, true, true}}
	for _, h := range rolloutbench.Harms {
		t.Header = append(t.Header, fmt.Sprintf("harm %g %%: stopped, hosts", h))
	}
	for _, r := range rows {
		row := []string{r.World, show.Count(r.Hosts), show.Percent(100 * r.FalseStops), show.Percent(100 * r.Held), show.Percent(100 * r.Coverage), show.SignedPercent(r.Bias), show.Percent(100 * r.Found)}
		for _, h := range r.Harms {
			row = append(row, show.Percent(100*h.Stopped)+", "+show.Percent(100*h.Harmed))
		}
		t.Rows = append(t.Rows, row)
	}
	page.Table(t)
}
