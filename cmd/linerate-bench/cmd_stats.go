package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/bench/calibrate"
	"linerate/internal/cli"
	"linerate/internal/show"
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
	}, func(cmd *cobra.Command, reps int, seed uint64) (any, func(*show.Page), error) {
		err := cli.UntilStopped(cmd.Context(), func() {
			rows, checks = calibrate.Table([]int{5, 10, 20}, reps, seed), calibrate.Checks(reps, seed)
		})
		return map[string]any{"version": 1, "reps": reps, "seed": seed, "rows": rows, "checks": checks},
			func(p *show.Page) { calibrationPage(p, rows, checks, reps) }, err
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

func calibrationPage(p *show.Page, rows []calibrate.Row, checks []calibrate.Check, reps int) {
	p.Line(fmt.Sprintf("%d studies per line; trials scatter by 1 %%; level 5 %%, so the false-positive rate should be 5 %% and coverage 95 %%;", reps))
	p.Line("power is for a variant 1.5 % slower")
	shape, order := calibrate.Shape(""), calibrate.Order("")
	for _, r := range rows {
		if r.Order != order {
			order = r.Order
			p.Line(fmt.Sprintf("\n%s", orderTitle(order)))
			p.Line(fmt.Sprintf("%-11s %2s  %-16s %12s %9s %7s  %s", "data", "n", "rule", "false pos.", "coverage", "power", "claim"))
		}
		name := string(r.Shape)
		if r.Shape == shape {
			name = ""
		}
		shape = r.Shape
		coverage := "–"
		if r.Coverage != nil {
			coverage = tenths(*r.Coverage)
		}
		p.Line(fmt.Sprintf("%-11s %2d  %-16s %12s %9s %7s  %s", name, r.N, r.Rule, tenths(r.FalsePositive), coverage, tenths(r.Power), claimText(r)))
	}
	p.Line("\nThe design")
	for _, c := range checks {
		claim := "no claim"
		if c.Low > 0 || c.High < 1 {
			claim = fmt.Sprintf("claimed %.0f to %.0f %%", 100*c.Low, 100*c.High)
		}
		if !c.Within {
			claim += ": NOT KEPT"
		}
		p.Line(fmt.Sprintf("%8s  n = %-3d %s (%s)", tenths(c.Value), c.N, c.What, claim))
	}
	p.Line(`
Claims: "nominal" is a false-positive rate of 5 % and 95 % coverage, each ±1 point; "conservative"
is no higher rate than that, and less power than could be had; "unreachable": with
so few blocks the test can never reject at 5 %. Nothing is claimed for trials run one arm
after the other on a machine that drifts or remembers: no test can tell time from treatment.`)
}

func orderTitle(o calibrate.Order) string {
	if o == calibrate.Interleaved {
		return "Randomised blocks (how linerate study runs trials)"
	}
	return "One arm after the other (how scripts without a plan run trials)"
}

func claimText(r calibrate.Row) string {
	switch {
	case !r.Kept:
		return string(r.Claim) + ": NOT KEPT"
	case r.Claim == calibrate.None:
		return "–"
	}
	return string(r.Claim)
}

// tenths prints a share as percent with one decimal.
func tenths(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
