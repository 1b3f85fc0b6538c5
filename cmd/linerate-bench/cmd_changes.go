package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/bench/changes"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// newChangesCmd returns the bench that checks changes on generated and given configurations.
func newChangesCmd() *cobra.Command {
	const most = 10_000_000
	var trees []string
	var cases int
	var seed uint64
	cmd := verb("changes", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if cases < 1 || cases > most {
			return hint.Usagef("--cases %d is not between 1 and %d", cases, most)
		}
		b, err := changes.New()
		if err != nil {
			return err
		}
		for _, dir := range trees {
			if err := b.Read(dir); err != nil {
				return err
			}
		}
		n, problems := 0, []string{}
		for i := seed; i < seed+uint64(cases); i++ {
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			h := b.Host(i)
			found, made, err := b.Check(h, i)
			if err != nil {
				return fmt.Errorf("seed %d: %w", i, err)
			}
			n += made
			for _, p := range found {
				problems = append(problems, fmt.Sprintf("seed %d, %s %s, %s: %s", i, h.OS, h.Release, h.Role, p))
			}
		}
		err = cli.PrintJSON(cmd.OutOrStdout(), map[string]any{"version": 1, "cases": cases, "seed": seed, "changes": n, "problems": problems})
		if err == nil && len(problems) > 0 {
			err = fmt.Errorf("%s", show.Plural(len(problems), "violation"))
		}
		return err
	})
	cmd.Flags().IntVar(&cases, "cases", 10_000, "configurations")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the first configuration")
	cmd.Flags().StringArrayVar(&trees, "trees", nil, "`DIR` with more configurations: trees with an etc, or lists in *.conf")
	return cmd
}
