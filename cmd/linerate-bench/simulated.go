package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
)

// simulated describes how many simulations a bench runs: the flag with its limits, and the number
// for --quick, if the bench has that flag.
type simulated struct {
	flag, usage               string
	usual, least, most, quick int
	quickly, seed             string // help of --quick and --seed
}

// command adds the flags to a bench. It runs n simulations from a seed and prints the document.
func (s simulated) command(cmd *cobra.Command, run func(cmd *cobra.Command, n int, seed uint64) (any, error)) *cobra.Command {
	var n int
	var seed uint64
	var quick bool
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if n < s.least || n > s.most {
			return hint.Usagef("--%s %d is not between %d and %d", s.flag, n, s.least, s.most)
		}
		if quick {
			n = min(n, s.quick)
		}
		doc, err := run(cmd, n, seed)
		if err != nil {
			return err
		}
		return cli.PrintJSON(cmd.OutOrStdout(), doc)
	}
	cmd.Flags().IntVar(&n, s.flag, s.usual, s.usage)
	cmd.Flags().Uint64Var(&seed, "seed", 1, s.seed)
	if s.quick > 0 {
		cmd.Flags().BoolVar(&quick, "quick", false, s.quickly)
	}
	return cmd
}
