package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/compare"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// newCompareScalingCmd fits the Universal Scalability Law.
func newCompareScalingCmd() *cobra.Command {
	var cores, rate, delimiters string
	var seed uint64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "scaling FILE",
		Short: "fit the Universal Scalability Law to rates by number of cores",
		Long: `scaling fits the Universal Scalability Law to a file with a number of cores
and a rate on each line (repetitions are allowed): the rate of one core,
contention (serial work, such as under a lock), coherency (cache lines that move
between CPUs), and the number of cores beyond which the rate falls. It needs at
least four different numbers of cores.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := sample(cmd, args[0], compare.Input{Column: cores, Delimiters: delimiters})
			if err != nil {
				return err
			}
			x, err := sample(cmd, args[0], compare.Input{Column: rate, Delimiters: delimiters})
			if err != nil {
				return err
			}
			u, err := stats.FitUSL(n, x, 2000, 0.95, seed)
			if err != nil {
				return hint.With(fmt.Errorf("%s: %w", args[0], err), "each line wants a number of cores and a rate")
			}
			return cli.Answer(cmd, asJSON, scalingOf(u, n), func(p *show.Page) { scalingPage(p, u, n, x) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&cores, "cores", "1", "`COLUMN` of the number of cores")
	f.StringVar(&rate, "rate", "2", "`COLUMN` of the rate")
	f.StringVarP(&delimiters, "delimiter", "d", "", "characters between columns (default blank and tab)")
	f.Uint64Var(&seed, "seed", 1, "seed of the resampling")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// sample reads one column of a file.
func sample(cmd *cobra.Command, name string, in compare.Input) ([]float64, error) {
	arm, err := readArm(cmd.InOrStdin(), name, in)
	return arm.Values, err
}

// scalingDocument is what `compare scaling --json` prints.
type scalingDocument struct {
	Version  int      `json:"version"`
	Points   int      `json:"points"`
	Gamma    estimate `json:"gamma"`
	Sigma    estimate `json:"sigma"`
	Kappa    estimate `json:"kappa"`
	Peak     estimate `json:"peak_cores"`
	Warnings []string `json:"warnings"`
}

// estimate is an estimate with its 95 % interval.
type estimate struct {
	Estimate stats.Number `json:"estimate"`
	Low      stats.Number `json:"ci_low"`
	High     stats.Number `json:"ci_high"`
}

func bounds(i stats.Interval) estimate {
	return estimate{stats.Num(i.Estimate), stats.Num(i.Low), stats.Num(i.High)}
}

func scalingOf(u stats.USL, n []float64) scalingDocument {
	d := scalingDocument{Version: 1, Points: len(n), Gamma: bounds(u.Gamma), Sigma: bounds(u.Sigma), Kappa: bounds(u.Kappa), Peak: bounds(u.Peak), Warnings: []string{}}
	for _, w := range u.Warnings {
		d.Warnings = append(d.Warnings, w.Message+": "+w.Action)
	}
	return d
}

func scalingPage(p *show.Page, u stats.USL, n, x []float64) {
	t := show.Table{Header: []string{"cores", "measured", "fitted", "of ideal"}, Right: []bool{true, true, true, true}}
	for i := range n {
		t.Add(show.Grouped(n[i], 0), show.Digits(x[i]), show.Digits(u.At(n[i])), show.Percent(100*x[i]/(n[i]*u.Gamma.Estimate)))
	}
	p.Table(t)
	p.Line("")
	with := func(i stats.Interval) string {
		return show.Digits(i.Estimate) + " [" + show.Digits(i.Low) + ", " + show.Digits(i.High) + "]"
	}
	share := func(i stats.Interval) string {
		return show.Percent(100*i.Estimate) + " [" + show.Percent(100*i.Low) + ", " + show.Percent(100*i.High) + "]"
	}
	p.Line("  one core      " + with(u.Gamma))
	p.Line("  contention    " + share(u.Sigma) + " of the work is done by one core at a time (σ)")
	p.Line("  coherency     " + share(u.Kappa) + " is lost to agreement, for each pair of cores (κ)")
	switch {
	case math.IsInf(u.Peak.Estimate, 1):
		p.Line("  peak          none: more cores never make it slower")
	case len(u.Warnings) > 0:
		p.Line("  peak          none within twice the cores measured")
	default:
		p.Line("  peak          " + with(u.Peak) + " cores; more make it slower")
	}
	p.Line("")
	p.Paragraph("  ", "  ", u.Limit())
	for _, warning := range u.Warnings {
		p.Paragraph("  warning: ", "           ", warning.Message+": "+warning.Action)
	}
}
