package main

import (
	"fmt"

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
			return cli.Answer(cmd, asJSON, compare.ScalingOf(u, n), func(p *show.Page) { compare.PrintScaling(p, u, n, x) })
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
