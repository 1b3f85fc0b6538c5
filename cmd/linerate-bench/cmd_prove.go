package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"linerate/bench/provebench"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
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
	}, func(cmd *cobra.Command, studies int, seed uint64) (doc any, page func(*show.Page), err error) {
		switch per {
		case "":
		case "connection":
			var crowds []provebench.CrowdRow
			err = cli.UntilStopped(cmd.Context(), func() { crowds = provebench.Connections(studies, seed) })
			return map[string]any{"version": 1, "studies": studies, "seed": seed, "rows": crowds}, func(p *show.Page) { writeCrowds(p, studies, crowds) }, err
		default:
			return nil, nil, hint.Usagef("--per %s: not known; known: connection", per)
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
			"false_positive_rate": rate, "coverage": coverage, "rows": rows, "guardrails": guards, "silences": silences}, func(p *show.Page) { writeProve(p, studies, rows, guards, silences) }, err
	})
	cmd.Flags().StringVar(&per, "per", "", "connection: studies in which each connection draws its arm")
	return cmd
}

func writeCrowds(page *show.Page, studies int, rows []provebench.CrowdRow) {
	page.Line(fmt.Sprintf("%d simulated studies of 20 windows of 600 connections each a crowd; a claim is 5 %% false positives and 95 %% coverage. The connections to see 4 %% with a power of 0.8 are by the intervals alone.", studies))
	t := show.Table{Header: []string{"crowd", "false positives", "coverage", "finds 4 %", "connections to see it", "20 %: better", "20 %: the host does not gain", "coverage of its gain"}, Right: []bool{false, true, true, true, true, true, true, true}}
	for _, r := range rows {
		row := []string{r.Crowd}
		for _, v := range []float64{r.FalsePositiveRate, r.Coverage, r.Power, r.Better, r.Refused, r.Host} {
			row = append(row, show.Percent(100*v))
		}
		t.Rows = append(t.Rows, slices.Insert(row, 4, show.Count(int(r.Needed))))
	}
	page.Table(t)
}

func writeProve(page *show.Page, studies int, rows []provebench.Row, guards []provebench.Guard, silences []provebench.Silence) {
	page.Line(fmt.Sprintf("%d simulated studies of 24 pairs each a shape; a claim is 5 %% false positives and 95 %% coverage.", studies))
	share := func(n stats.Number) string {
		return show.Optional(n, func(v float64) string { return show.Percent(100 * v) })
	}
	t := show.Table{Header: []string{"days", "method", "false positives", "coverage", "finds 5 %", "reversed", "late, acted on", "without effect"}, Right: []bool{false, false, true, true, true, true, true, true}}
	for _, r := range rows {
		t.Rows = append(t.Rows, []string{r.Shape, string(r.Method), show.Percent(100 * r.FalsePositiveRate), share(r.Coverage), share(r.Power), show.Percent(100 * r.Reversed), share(r.Noticed), share(r.FalseNotices)})
	}
	page.Table(t)
	page.Line("")
	page.Line("The guardrail on the metric, which allows 20 % of harm:")
	t = show.Table{Header: []string{"days", "ended without harm", "harm", "ended", "after treated windows"}, Right: []bool{false, true, true, true, true}}
	for _, g := range guards {
		t.Rows = append(t.Rows, []string{g.Shape, show.Percent(100 * g.FalseTrips), fmt.Sprintf("+%g %%", g.HarmPercent), show.Percent(100 * g.Tripped), show.Optional(g.Windows, show.Value)})
	}
	page.Table(t)
	page.Line("")
	page.Line("The guardrails on requests that stay away, in windows of five minutes with a look every five seconds:")
	t = show.Table{Header: []string{"requests", "ended without harm", "left", "ended", "after treated minutes"}, Right: []bool{false, true, true, true, true}}
	for _, s := range silences {
		t.Rows = append(t.Rows, []string{s.Requests, show.Percent(100 * s.FalseTrips), show.Percent(100 * s.Left), show.Percent(100 * s.Tripped), show.Optional(s.Minutes, show.Value)})
	}
	page.Table(t)
}
