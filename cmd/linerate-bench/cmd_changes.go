package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/bench/changes"
	"linerate/internal/show"
)

// newChangesCmd returns the bench that checks changes on generated and given configurations.
func newChangesCmd() *cobra.Command {
	var trees []string
	problems := []string{}
	s := simulated{flag: "cases", usage: "configurations", usual: 10_000, least: 1, most: 10_000_000, quick: 300, quickly: "300 configurations", seed: "seed of the first configuration"}
	cmd := s.command(verb("changes", nil, nil), func(cmd *cobra.Command, cases int, seed uint64) (any, error) {
		b, err := changes.New()
		if err != nil {
			return nil, err
		}
		for _, dir := range trees {
			if err := b.Read(dir); err != nil {
				return nil, err
			}
		}
		n := 0
		for i := range uint64(cases) {
			if err := cmd.Context().Err(); err != nil {
				return nil, err
			}
			h := b.Host(seed + i)
			found, made, err := b.Check(h, seed+i)
			if err != nil {
				return nil, fmt.Errorf("seed %d: %w", seed+i, err)
			}
			n += made
			for _, p := range found {
				problems = append(problems, fmt.Sprintf("seed %d, %s %s, %s: %s", seed+i, h.OS, h.Release, h.Role, p))
			}
		}
		return map[string]any{"version": 1, "cases": cases, "seed": seed, "changes": n, "problems": problems}, nil
	})
	cmd.PostRunE = func(*cobra.Command, []string) error { return harmless(problems) }
	cmd.Flags().StringArrayVar(&trees, "trees", nil, "`DIR` with more configurations: trees with an etc, or lists in *.conf")
	return cmd
}

// harmless returns an error if there are violations.
func harmless(problems []string) error {
	if len(problems) > 0 {
		return fmt.Errorf("%s", show.Plural(len(problems), "violation"))
	}
	return nil
}
