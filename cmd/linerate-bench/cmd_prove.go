package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study/switchback/simulate"
)

const benchProveLong = `Simulate days of a live host (daily rhythm, autocorrelation, heavy tails, bursts,
carry-over), and measure what linerate prove says of a setting that does nothing,
and of one that lowers the metric by 5 %: its false positives, the coverage of its
intervals and its power, beside a comparison of before with after and a t-test over
the same windows. Then how often the guardrail ends a day without harm, and how
many treated windows it takes to end one with harm.`

// newProveCmd simulates the switchback design.
func newProveCmd() *cobra.Command {
	var studies int
	var seed uint64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "false-positive rate, coverage and guardrails of studies on live hosts, by simulation",
		Long:  benchProveLong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if studies < 100 || studies > 1_000_000 {
				return hint.Usagef("--studies %d is not between 100 and 1000000", studies)
			}
			var rows []simulate.Row
			var guards []simulate.Guard
			err := cli.UntilStopped(cmd.Context(), func() {
				rows, guards = simulate.Table(studies, seed), simulate.Guards(studies/4, seed)
			})
			if err != nil {
				return err
			}
			rate, coverage := simulate.Claims(rows)
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), map[string]any{"version": 1, "studies": studies, "seed": seed,
					"false_positive_rate": rate, "coverage": coverage, "rows": rows, "guardrails": guards})
			}
			return writeProve(cmd.OutOrStdout(), studies, rows, guards)
		},
	}
	cmd.Flags().IntVar(&studies, "studies", 10_000, "simulated studies of each shape")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the simulation")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func writeProve(w io.Writer, studies int, rows []simulate.Row, guards []simulate.Guard) error {
	page := show.NewPage(cli.StyleOf(w))
	page.Line(fmt.Sprintf("%d simulated studies of 24 pairs each a shape; a claim is 5 %% false positives and 95 %% coverage.", studies))
	share := func(n stats.Number) string {
		return show.Optional(n, func(v float64) string { return show.Percent(100 * v) })
	}
	t := show.Table{Header: []string{"days", "method", "false positives", "coverage", "finds 5 %"}, Right: []bool{false, false, true, true, true}}
	for _, r := range rows {
		t.Rows = append(t.Rows, []string{r.Shape, string(r.Method), show.Percent(100 * r.FalsePositiveRate), share(r.Coverage), share(r.Power)})
	}
	page.Table(t)
	page.Line("")
	page.Line("The guardrail on the metric, which allows 20 % of harm:")
	t = show.Table{Header: []string{"days", "ended without harm", "harm", "ended", "after treated windows"}, Right: []bool{false, true, true, true, true}}
	for _, g := range guards {
		t.Rows = append(t.Rows, []string{g.Shape, show.Percent(100 * g.FalseTrips), fmt.Sprintf("+%g %%", g.HarmPercent), show.Percent(100 * g.Tripped), show.Optional(g.Windows, show.Value)})
	}
	page.Table(t)
	return page.Flush(w)
}
